"""An index to its catalogue, where there is one that can be asked."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from plait.errors import SourceError
from plait.index.catalogue import Catalogue
from plait.index.schema import NAME
from plait.web.library import State


@contextmanager
def catalogue_of(state: State) -> Iterator[Catalogue | None]:
    """Gives the catalogue; None without one, while it is first made, and of another version."""
    try:
        catalogue = Catalogue(state.index) if (state.index / NAME).exists() else None
    except SourceError:
        catalogue = None
    if catalogue is None:
        yield None
        return
    with closing(catalogue):
        yield catalogue if catalogue.is_current() else None
