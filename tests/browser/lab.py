"""A real JupyterLab on loopback, and its notebooks opened in headless Chromium.

Everything the server writes goes below one temporary folder: settings, workspaces, runtime files, notebooks.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
START_SECONDS = 180  # a busy machine takes its time; a quiet one needs about 5
WAIT_MS = 60_000
CHROMIUM_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
)
SERVER_FLAGS = (
    *("--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.ip=127.0.0.1"),
    *("--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True", "--LabApp.news_url="),
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
)

KERNEL_READY = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    const { context, sessionContext } = app.shell.currentWidget;
    await context.ready;
    await sessionContext.ready;
    await sessionContext.session.kernel.info;
}"""

RUN_IN_CELL = """async ([source, below]) => {
    const { commands, shell } = window.jupyterapp;
    const notebook = shell.currentWidget.content;
    notebook.activeCellIndex = below ? notebook.widgets.length - 1 : 0;
    if (below) await commands.execute('notebook:insert-cell-below');
    notebook.activeCell.model.sharedModel.setSource(source);
    await commands.execute('notebook:run-cell');
}"""


@dataclass
class LabPage:
    """A notebook open in JupyterLab; `errors` fills with console errors and uncaught exceptions."""

    page: Page
    errors: list[str] = field(default_factory=list)

    def run_all(self) -> None:
        """Run every cell and wait until the kernel has finished."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")

    def run(self, source: str) -> None:
        """Put the source in the first cell, run it, and wait until the kernel has finished."""
        self.page.evaluate(RUN_IN_CELL, [source, False])

    def run_below(self, source: str) -> None:
        """Run the source in a new last cell, as a reader would while a view is on screen."""
        self.page.evaluate(RUN_IN_CELL, [source, True])

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: its address, its notebook folder, its settings folder."""

    url: str
    folder: Path
    settings: Path


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab and the browser that visits it."""

    server: Server
    browser: Browser

    @property
    def folder(self) -> Path:
        """Where notebooks and the files they read lie."""
        return self.server.folder

    @contextmanager
    def open(
        self, notebook: str | Path | Sequence[str], *, dark: bool = False, size: tuple[int, int] = (1440, 1200)
    ) -> Iterator[LabPage]:
        """Open a notebook (a file to copy in, or the sources of code cells) in a fresh browser profile."""
        theme = "JupyterLab Dark" if dark else "JupyterLab Light"
        write_setting(self.server.settings, "themes", {"theme": theme})
        name = self._place(notebook)
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
        )
        try:
            context.set_default_timeout(WAIT_MS)
            opened = LabPage(context.new_page())
            opened.page.on("console", opened._on_console)
            opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
            opened.page.goto(f"{self.server.url}/lab/tree/{name}?reset")
            opened.page.wait_for_selector(".jp-Notebook .jp-Cell")
            opened.page.evaluate(KERNEL_READY)
            yield opened
        finally:
            context.close()

    def _place(self, notebook: str | Path | Sequence[str]) -> str:
        if isinstance(notebook, (str, Path)):
            shutil.copy(notebook, self.folder)
            return Path(notebook).name
        name = f"cells-{len(list(self.folder.glob('*.ipynb')))}.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        cells = [new_code_cell(source) for source in notebook]
        nbformat.write(new_notebook(cells=cells, metadata=kernel), self.folder / name)
        return name


def write_setting(settings: Path, plugin: str, values: dict[str, object]) -> None:
    """Set values of one `apputils-extension` plugin; the next page load reads them."""
    file = settings / "@jupyterlab" / "apputils-extension" / f"{plugin}.jupyterlab-settings"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values), encoding="utf-8")


@contextmanager
def start_server(home: Path) -> Iterator[Server]:
    """Start JupyterLab below `home`; it is stopped at the end."""
    folder, settings, port = home / "notebooks", home / "settings", free_port()
    folder.mkdir()
    write_setting(settings, "notification", {"fetchNews": "false", "checkForUpdates": False})
    command = [sys.executable, "-m", "jupyterlab", *SERVER_FLAGS, f"--ServerApp.port={port}"]
    log = (home / "server.log").open("wb")
    process = subprocess.Popen(
        [*command, f"--ServerApp.root_dir={folder}"], env=server_environment(home), stdout=log, stderr=log
    )
    try:
        wait_until_up(f"http://127.0.0.1:{port}/api", process, home / "server.log")
        yield Server(f"http://127.0.0.1:{port}", folder, settings)
    finally:
        process.terminate()
        process.wait(20)
        log.close()


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Start headless Chromium. Until it ends, this thread has a running event loop: no `asyncio.run` meanwhile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_FLAGS))
        expect.set_options(timeout=WAIT_MS)
        yield browser
        browser.close()


def chromium() -> str:
    """Path of the system's Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        raise RuntimeError("No Chromium on the PATH. Browser tests need one: install the package `chromium`.")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def server_environment(home: Path) -> dict[str, str]:
    """The environment (kernels stay offline, see `tests/conftest.py`) with Jupyter's folders below `home`."""
    folders = {
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "PYTHONPATH": ROOT,
    }
    return {**os.environ, **{name: str(path) for name, path in folders.items()}}


def wait_until_up(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start. The end of its log:\n{log.read_text('utf-8')[-2000:]}")
