import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

interface Case {
  readonly request: string;
  readonly status: number;
  readonly allow: string | null;
  readonly body: unknown;
  readonly parsed?: { readonly page: unknown; readonly page_size: number };
}

const FILE = new URL('../../../../shared/data/fastapi_422_cases.json', import.meta.url);
const isPresent = existsSync(FILE);
if (!isPresent)
  console.warn('SKIPPED: the recorded validation cases (../shared/data/fastapi_422_cases.json) are not here.');

/** Parses integers of 17 digits and more as strings, because a number would round them. */
const readJson = (json: string): unknown => JSON.parse(json.replace(/:\s*(\d{17,})(?=\s*[,}])/g, ':"$1"')) as unknown;

const cases = isPresent ? (readJson(readFileSync(FILE, 'utf8')) as { readonly cases: readonly Case[] }).cases : [];

/** Sends the path unchanged. `fetch` would normalize it. */
function send(
  url: string,
  requestLine: string,
): Promise<{ status: number; allow: string | null; type: string; body: string }> {
  const [method = 'GET', path = '/'] = requestLine.split(' ');
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, method, path }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          allow: response.headers.allow ?? null,
          type: response.headers['content-type'] ?? '',
          body,
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe.skipIf(!isPresent)('the recorded validation cases', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it('are 59 cases', () => {
    expect(cases.length).toBe(59);
  });

  it.each(cases.filter(({ parsed }) => parsed === undefined))('$request has the recorded answer', async (recorded) => {
    const answer = await send(app.url, recorded.request);
    expect(answer).toEqual({
      status: recorded.status,
      allow: recorded.allow,
      type: 'application/json',
      body: bodyOf(recorded),
    });
  });

  it.each(cases.filter(({ parsed }) => parsed !== undefined))(
    '$request has the recorded page and page size',
    async ({ request: requestLine, parsed }) => {
      const answer = await send(app.url, requestLine);
      const { page, page_size } = readJson(answer.body) as Record<string, unknown>;
      expect({ status: answer.status, page, page_size }).toEqual({
        status: 200,
        page: parsed?.page,
        page_size: parsed?.page_size,
      });
    },
  );
});

function bodyOf({ request: requestLine, body }: Case): string {
  // The application whose answers were recorded has another body for unknown ids. The gateway sends the documented
  // body.
  if (requestLine === 'GET /model_catalog/nope') return `{"detail":"Model 'nope' not found in catalog"}`;
  return body === '' ? '' : JSON.stringify(body);
}
