import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { statusAndBody, otlpExport, otlpSpan, send, START_MS } from './trace-client.ts';

const TRACE_COUNT = 51;
const idOf = (index: number): string => (index + 1).toString(16).padStart(32, '0');

interface ListBody {
  readonly data: readonly { readonly trace_id: string; readonly trace_ref: string }[];
  readonly next_cursor: string | null;
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  // The newest two start in the same millisecond, so their refs define the order.
  const starts = Array.from({ length: TRACE_COUNT }, (_, index) => Math.min(index, TRACE_COUNT - 2));
  await send(app, otlpExport(...starts.map((from, index) => otlpSpan('1', from, 1, {}, { traceId: idOf(index) }))));
});
afterAll(() => app.stop());

const list = async (query: string): Promise<ListBody> => (await app.call('GET', `/v1/traces?${query}`)).json();
const answerTo = (query: string) => statusAndBody(app.call('GET', `/v1/traces?${query}`));
const WHOLE_WINDOW = `start_ms=${START_MS}&end_ms=${START_MS + TRACE_COUNT}`;

describe('traces.list 200: paging', () => {
  it('returns fifty traces per page, newest first, each trace once', async () => {
    const first = await list(WHOLE_WINDOW);
    const second = await list(`${WHOLE_WINDOW}&cursor=${first.next_cursor}`);
    expect([first.data.length, second.data.length, second.next_cursor]).toEqual([50, 1, null]);
    expect(first.next_cursor).toMatch(/^[\w-]+$/);
    const ids = [...first.data, ...second.data].map(({ trace_id }) => trace_id);
    expect(ids.slice(2)).toEqual(Array.from({ length: TRACE_COUNT - 2 }, (_, index) => idOf(TRACE_COUNT - 3 - index)));
    const [newest, next] = first.data;
    expect((newest?.trace_ref ?? '') > (next?.trace_ref ?? '')).toBe(true);
  });

  it('a full last page is followed by an empty one', async () => {
    const full = await list(`start_ms=${START_MS + 1}&end_ms=${START_MS + TRACE_COUNT}`);
    expect(full.data).toHaveLength(50);
    expect(await list(`cursor=${full.next_cursor}`)).toEqual({ data: [], next_cursor: null });
  });

  it('the cursor contains its window, and the same window may be sent with it', async () => {
    const { next_cursor: cursor } = await list(WHOLE_WINDOW);
    expect((await list(`cursor=${cursor}`)).data).toHaveLength(1);
    expect((await list(`end_ms=${START_MS + TRACE_COUNT}&cursor=${cursor}`)).data).toHaveLength(1);
  });

  it('the window includes its start and not its end', async () => {
    const ids = async (query: string) => (await list(query)).data.map(({ trace_id }) => trace_id);
    expect(await ids(`start_ms=${START_MS}&end_ms=${START_MS + 1}`)).toEqual([idOf(0)]);
    expect(await ids(`start_ms=${START_MS + 1}&end_ms=${START_MS + 2}`)).toEqual([idOf(1)]);
    expect(await ids(`start_ms=-99999999999999999999&end_ms=%2B${START_MS + 1}`)).toEqual([idOf(0)]);
  });

  it('an empty cursor is the first page', async () => {
    expect((await list(`${WHOLE_WINDOW}&cursor=`)).data).toHaveLength(50);
  });
});

describe('traces.list 400', () => {
  const refused = (message: string) => [400, { detail: { code: 'invalid_request', message } }];

  it('an empty window', async () => {
    const empty = refused('The window is empty: its start must be before its end.');
    expect(await answerTo('start_ms=5&end_ms=5')).toEqual(empty);
    expect(await answerTo('start_ms=6&end_ms=5')).toEqual(empty);
  });

  it('an invalid cursor', async () => {
    expect(await answerTo('cursor=nonsense')).toEqual(refused('Invalid cursor.'));
    expect(await answerTo(`cursor=${'a'.repeat(512)}`)).toEqual(refused('Invalid cursor.'));
  });

  it('a cursor with another window', async () => {
    const { next_cursor: cursor } = await list(WHOLE_WINDOW);
    expect(await answerTo(`start_ms=1&cursor=${cursor}`)).toEqual(refused('The cursor belongs to another window.'));
  });
});

describe('traces.list 422', () => {
  const malformed = (name: string) => ({
    type: 'int_parsing',
    loc: ['query', name],
    msg: 'Input should be a valid integer, unable to parse string as an integer',
  });

  it('each invalid parameter is named, in the order of the parameters', async () => {
    const cursor = 'a'.repeat(513);
    expect(await answerTo(`cursor=${cursor}&end_ms=1.5&start_ms=abc`)).toEqual([
      422,
      {
        detail: [
          malformed('start_ms'),
          malformed('end_ms'),
          {
            type: 'string_too_long',
            loc: ['query', 'cursor'],
            msg: 'String should have at most 512 characters',
          },
        ],
      },
    ]);
  });

  it('an empty number, and a number with too many digits', async () => {
    expect(await answerTo('start_ms=')).toEqual([422, { detail: [malformed('start_ms')] }]);
    const tooLong = '9'.repeat(4_301);
    expect(await answerTo(`end_ms=${tooLong}`)).toEqual([
      422,
      {
        detail: [
          {
            type: 'int_parsing_size',
            loc: ['query', 'end_ms'],
            msg: 'Unable to parse input string as an integer, exceeded maximum size',
          },
        ],
      },
    ]);
  });
});
