"""ASGI entry point for uvicorn."""

import os
import warnings

from django.core.asgi import get_asgi_application

# static files are small: that a sync iterator is read whole before the first byte does no harm here
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rag4c.settings")
application = get_asgi_application()
