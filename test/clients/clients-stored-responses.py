"""Continues, reads and deletes stored responses with OpenAI's client, and prints the results as one JSON object."""

import json
import sys

import openai

base, key, model = sys.argv[1], sys.argv[2], sys.argv[3]
client = openai.OpenAI(base_url=f"{base}/v1", api_key=key, max_retries=0)


def refused(ask):
    try:
        ask()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code]
    return None


first = client.responses.create(model=model, input="One")
second = client.responses.create(model=model, input="Two", previous_response_id=first.id)
with client.responses.stream(model=model, input="Three", previous_response_id=second.id) as stream:
    for _ in stream:
        pass
    third = stream.get_final_response()
kept = client.responses.retrieve(third.id)
items = [item.content[0].text for item in client.responses.input_items.list(third.id)]
cancelled = refused(lambda: client.responses.cancel(third.id))
client.responses.delete(third.id)

json.dump(
    {
        "last": third.output_text,
        "same": [kept.id, kept.status, kept.output_text] == [third.id, third.status, third.output_text],
        "items": items,
        "cancelled": cancelled,
        "deleted": refused(lambda: client.responses.retrieve(third.id)),
    },
    sys.stdout,
)
