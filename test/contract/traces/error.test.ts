import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { statusAndBody, as, makeKey, otlpExport, otlpSpan, send, TRACE_ID } from './trace-client.ts';

/** Characters of two bytes each: parts are counted in characters, not in bytes. */
const LONG_ERROR = 'äöü'.repeat(10_900);
const PART = 16_384;

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await startApp();
  key = await makeKey(app);
  const failure = (message: string) => ({ status: { code: 2, message } });
  const spans = [
    otlpSpan('1', 0, 1, {}, failure(LONG_ERROR)),
    otlpSpan('2', 0, 1, {}, failure('no such order')),
    otlpSpan('3', 0, 1),
    otlpSpan('4', 0, 1, {}, failure('x'.repeat(70_000))),
  ];
  await send(app, otlpExport(...spans), as(key));
});
afterAll(() => app.stop());

const read = (digit: string, query = '') =>
  statusAndBody(app.call('GET', `/v1/traces/${TRACE_ID}/spans/${digit.repeat(16)}/error?${query}`, undefined, as(key)));
/** A valid state is the index of the first character of the next part, and the length of the error text. */
const cursorOf = (state: unknown): string => Buffer.from(JSON.stringify(state)).toString('base64url');

describe('traces.error 200', () => {
  it('returns the error text of a span, or an empty text', async () => {
    const whole = (digit: string, message: string) => [
      200,
      { span_id: digit.repeat(16), message, total_chars: message.length, next_cursor: null },
    ];
    expect([await read('2'), await read('3', 'cursor=')]).toEqual([whole('2', 'no such order'), whole('3', '')]);
  });

  it('returns a long error text in parts', async () => {
    const [status, first] = await read('1');
    expect([status, first]).toEqual([
      200,
      {
        span_id: '1'.repeat(16),
        message: LONG_ERROR.slice(0, PART),
        total_chars: LONG_ERROR.length,
        next_cursor: expect.stringMatching(/^[\w-]+$/),
      },
    ]);
    const { next_cursor: cursor } = first as { next_cursor: string };
    expect(await read('1', `cursor=${cursor}`)).toEqual([
      200,
      { span_id: '1'.repeat(16), message: LONG_ERROR.slice(PART), total_chars: LONG_ERROR.length, next_cursor: null },
    ]);
  });

  it('an error text above the stored size ends with the number of removed bytes', async () => {
    let [cursor, message, parts] = ['', '', 0];
    do {
      const [, body] = await read('4', `cursor=${cursor}`);
      const part = body as { message: string; next_cursor: string | null };
      cursor = part.next_cursor ?? '';
      message += part.message;
      parts += 1;
    } while (cursor !== '');
    // The text fills four parts, and its end is in a fifth one.
    expect([message, parts]).toEqual([`${'x'.repeat(65_536)}…[truncated 4464 bytes]`, 5]);
  });
});

it.each([
  'nonsense',
  cursorOf(7),
  cursorOf([1]),
  cursorOf([0, LONG_ERROR.length]),
  cursorOf([LONG_ERROR.length, LONG_ERROR.length]),
])('traces.error 400: an invalid cursor: %s', async (cursor) => {
  expect(await read('1', `cursor=${cursor}`)).toEqual([
    400,
    { detail: { code: 'invalid_request', message: 'Invalid cursor.' } },
  ]);
});

it('traces.error 409: a cursor from before the error text changed', async () => {
  expect(await read('1', `cursor=${cursorOf([1, LONG_ERROR.length + 1])}`)).toEqual([
    409,
    {
      detail: {
        code: 'trace_changed',
        message: 'The span has changed since this cursor was given. Read it from its start.',
      },
    },
  ]);
});

it('traces.error 422: a cursor that is too long', async () => {
  const cursor = 'x'.repeat(513);
  expect(await read('1', `cursor=${cursor}`)).toEqual([
    422,
    {
      detail: [
        {
          type: 'string_too_long',
          loc: ['query', 'cursor'],
          msg: 'String should have at most 512 characters',
        },
      ],
    },
  ]);
});
