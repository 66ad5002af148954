import { describe, expect, it } from 'vitest';
import { McpProtocolError } from '../../../src/domain/mcp/protocol.ts';
import { errorMessage, messageEvent, readMcpMessages, resultMessage } from '../../../src/wire/mcp/messages.ts';

describe('readMcpMessages', () => {
  it.each([
    [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { kind: 'request', id: 1, method: 'ping', params: {} },
    ],
    [
      { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'x' } },
      { kind: 'request', id: 'a', method: 'tools/call', params: { name: 'x' } },
    ],
    [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { kind: 'notification', method: 'notifications/initialized', params: {} },
    ],
    [{ jsonrpc: '2.0', id: 1, result: {} }, { kind: 'response' }],
    [{ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'x' } }, { kind: 'response' }],
  ])('reads %j', (body, message) => {
    expect(readMcpMessages(body)).toEqual({ isBatch: false, messages: [message] });
  });

  it.each([
    ['a number', 1],
    ['null', null],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'ping' }],
    ['no method', { jsonrpc: '2.0', id: 1 }],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }],
    ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }],
    ['an id with a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
    ['an empty batch', []],
    ['a batch that is too long', Array.from({ length: 21 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))],
  ])('refuses %s', (_case, body) => {
    expect(() => readMcpMessages(body)).toThrow(McpProtocolError);
  });

  it('keeps the id of an invalid member of a batch, for its error', () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(readMcpMessages([ping, { jsonrpc: '2.0', id: 2 }, 'x'])).toEqual({
      isBatch: true,
      messages: [
        { kind: 'request', id: 1, method: 'ping', params: {} },
        { kind: 'invalid', id: 2 },
        { kind: 'invalid', id: null },
      ],
    });
  });

  it('reads the longest permitted batch', () => {
    const batch = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    expect(readMcpMessages(batch).messages).toHaveLength(20);
  });
});

describe('messageEvent', () => {
  const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

  it('writes a result', () => {
    expect(textOf(messageEvent(resultMessage(1, {})))).toBe(
      'event: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n',
    );
  });

  it('writes an error on one line', () => {
    expect(textOf(messageEvent(errorMessage(null, { code: -32_600, message: 'a\nb' })))).toBe(
      'event: message\r\ndata: {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a\\nb"}}\r\n\r\n',
    );
  });
});
