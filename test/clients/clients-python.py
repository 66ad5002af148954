"""Calls a running gateway with OpenAI's client, and prints the results as one JSON object."""

import json
import sys

import openai

base, key = sys.argv[1], sys.argv[2]
client = openai.OpenAI(base_url=f"{base}/v1", api_key=key, max_retries=0)
ide = openai.OpenAI(base_url=f"{base}/ide", api_key=key, max_retries=0)


def responded():
    whole = client.responses.create(model="demo", input="Hello")
    with client.responses.stream(model="demo", input="Hello") as stream:
        types = [event.type for event in stream]
        final = stream.get_final_response()
    return {
        "whole": whole.output_text,
        "streamed": final.output_text,
        "first": types[0],
        "last": types[-1],
        "usage": whole.usage.model_dump() == final.usage.model_dump(),
    }


def chatted():
    asked = {"model": "demo", "messages": [{"role": "user", "content": "Hello"}]}
    pieces = ide.chat.completions.create(**asked, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in pieces if chunk.choices)


def refused(ask):
    try:
        ask()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code]
    return None


json.dump(
    {
        "responded": responded(),
        "chatted": chatted(),
        "unknown_model": refused(lambda: client.responses.create(model="nothing", input="x")),
        "unknown_response": refused(lambda: client.responses.retrieve("resp_nothing")),
    },
    sys.stdout,
)
