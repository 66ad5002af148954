"""Calls a running gateway with Mistral's client, and prints the results as one JSON object."""

import json
import sys

from mistralai.client import Mistral, errors

base, key = sys.argv[1], sys.argv[2]
client = Mistral(server_url=base, api_key=key)
HELLO = [{"role": "user", "content": "Hello"}]


def refused(ask):
    try:
        ask()
    except errors.MistralError as error:
        return error.status_code
    return None


def embedded():
    answer = client.embeddings.create(model="demo", inputs=["one", "two"])
    return {
        "id": answer.id,
        "object": answer.object,
        "model": answer.model,
        "indexes": [item.index for item in answer.data],
        "lengths": [len(item.embedding) for item in answer.data],
        "prompt_tokens": answer.usage.prompt_tokens,
    }


models = client.models.list().data
whole = client.chat.complete(model="demo", messages=HELLO).choices[0].message.content
pieces = client.chat.stream(model="demo", messages=HELLO)

json.dump(
    {
        "models": [[type(model).__name__, model.id, model.object] for model in models],
        "retrieved": client.models.retrieve(model_id="demo").id,
        "embedded": embedded(),
        "whole": whole,
        "streamed": "".join(piece.data.choices[0].delta.content or "" for piece in pieces),
        "unknown_model": refused(lambda: client.embeddings.create(model="nothing", inputs=["one"])),
        "unknown_key": refused(lambda: Mistral(server_url=base, api_key="sk-unknown").models.list()),
    },
    sys.stdout,
)
