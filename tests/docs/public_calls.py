"""Prints the public calls of the package as JSON: names, parameters, whether they return something, docstrings."""

import inspect
import json

import ranktree
import ranktree.mpi
import ranktree.pattern
import ranktree.prediction

MADE_BY_CALLS = (ranktree.Plan, ranktree.mpi.Level, ranktree.mpi.Levels, ranktree.mpi.Request)


def methods(kind: type, name: str):
    """The public methods of a class, and its constructor where users call it."""
    for key, value in vars(kind).items():
        wanted = not key.startswith("_") or (key == "__init__" and kind not in MADE_BY_CALLS)
        function = getattr(value, "__func__", value)
        if wanted and inspect.isfunction(function):
            yield f"{name}.{key}", function


def calls():
    """(name, function) of all modules that users import."""
    for module in (ranktree, ranktree.pattern, ranktree.prediction, ranktree.mpi):
        for key in module.__all__:
            value = getattr(module, key)
            name = f"{module.__name__}.{key}"
            if inspect.isfunction(value):
                yield name, value
            elif inspect.isclass(value):
                yield from methods(value, name)


def described(function) -> dict:
    """The signature of a call, and its docstring."""
    signature = inspect.signature(function)
    parameters = [name for name in signature.parameters if name not in {"self", "cls"}]
    returned = signature.return_annotation not in {None, "None", inspect.Signature.empty}
    return {"parameters": parameters, "returns": returned, "text": inspect.getdoc(function) or ""}


print(json.dumps({name: described(function) for name, function in calls()}))
