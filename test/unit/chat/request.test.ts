import { expect, it } from 'vitest';
import { VERSION } from '../../../src/domain/version.ts';
import { GATEWAY_FIELDS } from '../../../src/domain/inference/gateway-fields.ts';
import { upstreamRequest } from '../../../src/wire/chat-completions/native.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { aModelRequest } from '../../support/chat.ts';

const upstreamBodyOf = (body: Record<string, unknown>): unknown =>
  JSON.parse(Buffer.from(upstreamRequest(aModelRequest(body), 'up-1')).toString('utf8'));
const MESSAGES = [{ role: 'user', content: 'Hello' }];

it('a request has the model name of the upstream', () => {
  expect(upstreamBodyOf({ messages: MESSAGES, model: 'm' })).toEqual({ messages: MESSAGES, model: 'up-1' });
});

it('a request that needs no change is forwarded byte for byte', () => {
  const request = aModelRequest({ model: 'm', messages: MESSAGES });
  expect(upstreamRequest(request, 'm')).toBe(request.bytes);
});

it('gateway fields and metadata are not sent upstream, and all other fields are', () => {
  const gatewayFields = Object.fromEntries(GATEWAY_FIELDS.map((field) => [field, ['x']]));
  const body = { model: 'm', messages: MESSAGES, user: 'u', temperature: 0.5, seed: 3 };
  expect(upstreamBodyOf({ ...gatewayFields, ...body, metadata: { tags: ['t'] } })).toEqual({ ...body, model: 'up-1' });
});

it('metadata is forwarded when the request asks the provider to store the answer', () => {
  const body = { model: 'm', messages: MESSAGES, store: true, metadata: { a: 'b' } };
  expect(upstreamBodyOf(body)).toEqual({ ...body, model: 'up-1' });
});

it('usage is requested on every stream', () => {
  const stream = { model: 'up-1', messages: MESSAGES, stream: true };
  expect(upstreamBodyOf(stream)).toEqual({ ...stream, stream_options: { include_usage: true } });
  expect(upstreamBodyOf({ ...stream, stream_options: null })).toEqual({
    ...stream,
    stream_options: { include_usage: true },
  });
  expect(upstreamBodyOf({ ...stream, stream_options: { include_usage: false, include_obfuscation: false } })).toEqual({
    ...stream,
    stream_options: { include_usage: true, include_obfuscation: false },
  });
});

it('a stream whose caller requests usage is forwarded unchanged', () => {
  const request = aModelRequest({ model: 'm', stream: true, stream_options: { include_usage: true }, messages: [] });
  expect(upstreamRequest(request, 'm')).toBe(request.bytes);
});

it('the version in answers is the version of the package', () => {
  expect(VERSION).toBe(manifest.version);
});
