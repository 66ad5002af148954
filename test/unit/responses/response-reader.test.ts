import { expect, it } from 'vitest';
import { createResponseReader } from '../../../rest-shims/response-socket.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { createTurnMemories } from '../../../src/domain/responses/turn-memory.ts';

const reader = createResponseReader({
  handshake: { search: '', headers: {} },
  memory: createTurnMemories().open(),
  scopeFor: () => Promise.reject(new Error('No scope is needed.')),
  onRefusal() {},
});

const eventOf = (failure: unknown): unknown => JSON.parse(Buffer.from(reader.errorEvent(failure).bytes).toString());

it('a connection that is open too long gets the error code of OpenAI', () => {
  const message = 'It has lasted too long.';
  const failure = new InvalidInput(message, [{ path: [], rule: 'websocket_connection_limit_reached', message }]);
  expect(eventOf(failure)).toEqual({
    type: 'error',
    status: 400,
    error: {
      type: 'invalid_request_error',
      code: 'websocket_connection_limit_reached',
      message,
      param: null,
      headers: { 'x-litellm-version': expect.any(String) },
    },
  });
});

it('an internal error is not shown', () => {
  expect(eventOf(new TypeError('a secret'))).toMatchObject({
    status: 500,
    error: { type: 'internal_server_error', code: '500', message: 'Internal server error' },
  });
});

it('reading does not throw for invalid input', () => {
  for (const bytes of [Buffer.from([0xff, 0xfe]), Buffer.alloc(0), Buffer.from('{"type":null}'), Buffer.from('"x"')])
    expect(reader.read({ bytes, binary: true })).toMatchObject({ kind: 'turn', lane: '' });
});
