import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { settingsForServer, valueAt, withValue } from '../../../lite/agents/claude-settings.ts';
import { sinceOf } from '../../../lite/commands/key-import.ts';
import { spanTree } from '../../../lite/commands/traces.ts';
import { CommandFailure, HttpFailure, textOf, UsageFailure } from '../../../lite/failure.ts';
import { checkedBaseUrl } from '../../../lite/server/base-url.ts';
import { streamedTexts } from '../../../lite/server/chat-stream.ts';
import { createClient } from '../../../lite/server/client.ts';
import { plain, table } from '../../../lite/terminal/table.ts';

describe('a base URL', () => {
  it.each([
    ['http://localhost:4000/', 'http://localhost:4000'],
    [' https://a.example.org/prefix// ', 'https://a.example.org/prefix'],
  ])('%j becomes %j', (text, url) => {
    expect(checkedBaseUrl(text)).toBe(url);
  });

  it.each(['', 'localhost:4000', 'ftp://a', 'http://', 'http://a?', 'http://a#x', 'http://a/?x=1', 'http://u:p@a'])(
    '%j is refused',
    (text) => {
      expect(() => checkedBaseUrl(text)).toThrow(UsageFailure);
    },
  );
});

describe('a table', () => {
  it('has columns as wide as their longest cells, and counts wide characters twice', () => {
    expect(table('T', ['A', 'Long'], [['日本', 'x']])).toBe(
      ['       T', '┏━━━━━━┳━━━━━━┓', '┃ A    ┃ Long ┃', '┡━━━━━━╇━━━━━━┩', '│ 日本 │ x    │', '└──────┴──────┘'].join(
        '\n',
      ),
    );
  });

  it('has blanks instead of characters that change the terminal', () => {
    expect(plain('a\u001b[31mb\u009bc\nd\u202ee')).toBe('a [31mb c d e');
  });
});

describe('a failed request', () => {
  it.each([
    [{ error: { message: 'no key' } }, 'HTTP 401: no key'],
    [{ detail: [{ msg: 'first' }, { msg: 'second' }] }, 'HTTP 401: first; second'],
    [{ detail: 'lost' }, 'HTTP 401: lost'],
    ['text', 'HTTP 401: text'],
    [{}, 'HTTP 401'],
    [null, 'HTTP 401'],
  ])('with the body %j has the message %j', (body, message) => {
    expect(new HttpFailure(401, body).message).toBe(message);
  });

  it('without a connection has the reason of every address', () => {
    const cause = new AggregateError([new Error('refused 1'), new Error('refused 2')]);
    expect(textOf(new TypeError('fetch failed', { cause }))).toBe('refused 1; refused 2');
  });
});

describe('settings of Claude Code', () => {
  it('keep other members, and lose other credentials', () => {
    const before = {
      env: { A: 'b', ANTHROPIC_API_KEY: 'x', ENABLE_TOOL_SEARCH: 'auto' },
      apiKeyHelper: 'y',
      hooks: {},
    };
    expect(settingsForServer(before, { baseUrl: 'http://a', key: 'k', model: null })).toEqual({
      env: {
        A: 'b',
        ENABLE_TOOL_SEARCH: 'auto',
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
        ANTHROPIC_BASE_URL: 'http://a',
        ANTHROPIC_AUTH_TOKEN: 'k',
      },
      hooks: {},
    });
  });

  it('are read, replaced and removed by path', () => {
    expect(valueAt({ env: { A: 1 } }, 'env.A')).toBe(1);
    expect(valueAt({}, 'env.A')).toBeUndefined();
    expect(withValue({}, 'env.A', 2)).toEqual({ env: { A: 2 } });
    expect(withValue({ env: { A: 1 }, b: 2 }, 'env.A', undefined)).toEqual({ env: {}, b: 2 });
    expect(withValue({ b: 2 }, 'env.A', undefined)).toEqual({ b: 2 });
  });
});

describe('spans of a trace', () => {
  const span = (id: string, parent: string | null) => ({ span_id: id, parent_span_id: parent });
  /** Depth and id of each span in the tree. */
  const tree = (...spans: ReturnType<typeof span>[]) =>
    spanTree(spans).map(([depth, { span_id }]) => `${depth}${String(span_id)}`);

  it('follow their parents; spans of one parent keep their order', () => {
    expect(tree(span('a', null), span('b', 'a'), span('c', 'b'), span('d', 'a'))).toEqual(['0a', '1b', '2c', '1d']);
  });

  it('have depth 0 without a known parent, and in a cycle of parents', () => {
    expect(tree(span('a', 'lost'), span('b', 'c'), span('c', 'b'))).toEqual(['0a', '0b', '0c']);
  });

  it('may be deeper than the call stack', () => {
    const deep = Array.from({ length: 20_000 }, (_, index) => span(`${index}`, index === 0 ? null : `${index - 1}`));
    expect(tree(...deep)).toHaveLength(20_000);
  });
});

describe('--created-since of an import of keys', () => {
  it.each([
    ['2026-02-03', '2026-02-03T00:00:00.000Z'],
    ['2026-02-03_04:05', '2026-02-03T04:05:00.000Z'],
  ])('%j is the time %j', (text, instant) => {
    expect(sinceOf(text).toISOString()).toBe(instant);
  });

  it.each(['2026-02-30', '2026-13-01', '2026-02-03_25:00', 'today', '2026-2-3'])('%j is refused', (text) => {
    expect(() => sinceOf(text)).toThrow(UsageFailure);
  });
});

describe('a client', () => {
  it('refuses an answer longer than its limit, with and without a Content-Length', async () => {
    const server = createServer((request, response) => {
      const body = JSON.stringify('x'.repeat(100));
      if (request.url === '/sized') response.setHeader('content-length', body.length);
      response.write(body);
      response.end();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const path of ['/sized', '/chunked']) {
      expect(await createClient(url, null, 102).send('GET', path)).toBe('x'.repeat(100));
      await expect(createClient(url, null, 101).send('GET', path)).rejects.toThrow(
        new CommandFailure(`The answer of ${url}${path} is too large.`),
      );
    }
  });
});

describe('texts of a streamed chat', () => {
  const read = async (...chunks: readonly Uint8Array[]): Promise<string> => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    let text = '';
    for await (const part of streamedTexts(new Response(body))) text += part;
    return text;
  };
  const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\r\n\r\n`;

  it('are whole where chunks split events and characters, and end at [DONE]', async () => {
    const bytes = Buffer.from(`: comment\n${event('grüße')}${event(' 日')}data: [DONE]\n\n${event('late')}`);
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await read(...chunks)).toBe('grüße 日');
  });

  it('reject with the error that the server sends', async () => {
    await expect(read(Buffer.from('data: {"error":{"message":"too long"}}\n\n'))).rejects.toThrow('too long');
  });
});
