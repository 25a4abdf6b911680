"""The service: the campaigns of one database over HTTP. Needs the extra ``server``."""

from importlib.util import find_spec

from cutline.errors import MissingDependencyError

for _name in ("fastapi", "jinja2", "python_multipart", "uvicorn"):
    if find_spec(_name) is None:
        raise MissingDependencyError(f"the service needs {_name}; install it with: pip install 'cutline[server]'")
