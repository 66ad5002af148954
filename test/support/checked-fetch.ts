import { createAnswerCheck } from './documented-answers.ts';

// Setup of a test project. When a test reads the body of a loopback response with `text` or `json`, the response is
// checked against the OpenAPI document. An undocumented status or media type, or JSON that violates its schema, fails
// the test.

const CHECKED = Symbol.for('lensgate.checked-fetch');
const LOCAL = new Set(['127.0.0.1', 'localhost']);

function checkFetches(): void {
  let check: ReturnType<typeof createAnswerCheck> | null = null;
  const methods = new WeakMap<Response, string>();
  const { fetch } = globalThis;
  // eslint-disable-next-line typescript/unbound-method -- called with a response as `this` below.
  const { text } = Response.prototype;

  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    if (response.url !== '' && LOCAL.has(new URL(response.url).hostname)) methods.set(response, method);
    return response;
  };

  async function checkedText(this: Response): Promise<string> {
    const method = methods.get(this);
    const body = await text.call(this);
    if (method === undefined) return body;
    const { pathname, search } = new URL(this.url);
    const contentType = this.headers.get('content-type') ?? '';
    const answer = { method, path: pathname + search, status: this.status, contentType, text: body };
    check ??= createAnswerCheck();
    const fault = check(answer);
    if (fault !== null) throw new Error(`The OpenAPI document does not allow this answer. ${fault}`);
    return body;
  }

  Response.prototype.text = checkedText;
  Response.prototype.json = async function json(this: Response): Promise<unknown> {
    return JSON.parse(await checkedText.call(this)) as unknown;
  };
}

const marked = globalThis as { [CHECKED]?: true };
if (marked[CHECKED] === undefined) {
  marked[CHECKED] = true;
  checkFetches();
}
