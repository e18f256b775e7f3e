"""An executable runbook for OpenUI and LangGraph 1.2: one room for each chapter, and what they share."""
