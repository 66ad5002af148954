import { streamOfBytes, collect } from '../../domain/bytes.ts';
import type { Exchange } from '../../domain/chat/chat.ts';
import { Rejected, Unavailable } from '../../domain/errors.ts';
import { editedJson } from '../../domain/guardrails/texts/answer-texts.ts';
import { allTexts } from '../../domain/guardrails/texts/request-texts.ts';
import { isMembers, type Members, type TextPlace, withTexts } from '../../domain/guardrails/texts/walk.ts';
import type { Forwarded } from '../../domain/pass-through/forwarded.ts';
import { streamSettings, maskingRefusal } from './guarded-answer.ts';
import { assertNoRepeatedMember } from './guarded-call.ts';
import { createStreamWindow, guardedBytes } from './guarded-stream.ts';
import type { CallGuard, RunningCall } from './guarding.ts';
import { createStreamTools, withAnswerTools, withRequestTools } from './inspected-tools.ts';

/** Maximum size of an answer that is checked, in bytes. */
const ANSWER_LIMIT = 64 * 1024 * 1024;
const OPENING_BRACE = 0x7b;

/** Content encodings without compression. */
const IDENTITY = /^\s*(identity)?\s*$/i;
/** Whether the first byte after white space is a brace. */
const beginsWithBrace = (bytes: Uint8Array): boolean => bytes.find((byte) => byte > 0x20) === OPENING_BRACE;
const isEmpty = (fields: Members): boolean => Object.keys(fields).length === 0;
const wholeText = (bytes: Uint8Array): readonly TextPlace[] =>
  bytes.length === 0 ? [] : [{ text: new TextDecoder().decode(bytes), path: [], role: null }];

/** The body as one text, followed by the texts in it without the escapes of JSON or of a form. */
function bodyTexts(bytes: Uint8Array): readonly TextPlace[] {
  const value = parsed(bytes);
  const whole = wholeText(bytes);
  if (value !== undefined) return [...whole, ...allTexts({ value })];
  const fields = whole.flatMap(({ text }) => [...new URLSearchParams(text)].flat());
  const isForm = whole.some(({ text }) => /^[^\s=&]+=\S*$/.test(text));
  return isForm ? [...whole, ...fields.map((text) => ({ text, path: [], role: null }))] : whole;
}

/**
 * Checks a request that is forwarded: every text of its fields. Without fields, checks the whole body and the texts in
 * it. Returns the request with edited texts. Throws Rejected, also for a compressed body, for an unsupported character
 * set and for an edit of a body that is no JSON object. Throws GuardrailFailed, Unavailable, and InvalidInput for a
 * repeated member.
 */
export async function checkForwarded(guard: CallGuard, request: Forwarded, call: RunningCall): Promise<Forwarded> {
  if (!guard.checksRequest()) return request;
  const { fields, body, headers } = request;
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = headers;
  if (body.length > 0 && !IDENTITY.test(encoding)) throw uncheckable(guard, 'a compressed body');
  if (body.length > 0 && OTHER_CHARSET.test(type)) throw uncheckable(guard, 'a body in this character set');
  if (!isEmpty(fields) && beginsWithBrace(body)) assertNoRepeatedMember(guard, { bytes: body, fromLevel: 1 });
  const places = isEmpty(fields) ? bodyTexts(body) : allTexts(fields);
  const running = withRequestTools(call, fields);
  const { texts, isEdited } = await guard.check('pre_call', places, running);
  const current = places.map(({ role, text }, index) => ({ role, text: texts[index] ?? text }));
  await guard.checkAtOnce('during_call', current, running);
  if (!isEdited) return request;
  const isJsonObject = request.form === undefined && !isEmpty(fields) && beginsWithBrace(body);
  if (!isJsonObject) throw maskingRefusal(guard, 'in this body');
  const changes = withTexts(fields, places, texts);
  return { ...request, fields: { ...fields, ...changes }, replaced: { ...request.replaced, ...changes } };
}

/** Content types of text. An absent content type counts as text. */
const TEXT = /^\s*($|text\/|application\/([\w.-]+\+)?(json|xml|(x-)?ndjson|jsonl|(x-)?javascript|(x-)?yaml))/i;
/** Any character set except those in which ASCII characters have the same bytes as in UTF-8. */
const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!utf-?8\b|us-ascii\b|iso-8859-|windows-125)/i;
const EVENTS = /^\s*text\/event-stream/i;

/**
 * Checks the answer to a forwarded request: every text of JSON, else the whole text. An answer that is not text is not
 * checked; compressed text and text in an unsupported character set are rejected. Throws Rejected, GuardrailFailed and
 * Unavailable.
 */
export async function checkForwardedAnswer(guard: CallGuard, exchange: Exchange, call: RunningCall): Promise<Exchange> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = exchange.headers;
  if (!guard.has('post_call') || !TEXT.test(type)) return exchange;
  if (encoding !== 'identity') throw uncheckable(guard, 'a compressed answer');
  if (OTHER_CHARSET.test(type)) throw uncheckable(guard, 'an answer in this character set');
  const { 'content-length': _length, ...headers } = exchange.headers;
  if (EVENTS.test(type)) {
    const tools = guard.readsTools('post_call') ? createStreamTools({}) : null;
    const running = tools === null ? call : { ...call, tools: () => tools.checked() };
    const window = createStreamWindow({
      isEditable: false,
      ...(tools === null ? {} : { isCheckDue: () => tools.isCheckDue() }),
      async check(texts, isLast) {
        const answerTexts = texts.map((text) => ({ text, role: null }));
        const checked = await guard.check('post_call', answerTexts, running, isLast ? 'all' : 'failures');
        return checked.isEdited ? checked.texts : null;
      },
      refusal: (where) => maskingRefusal(guard, where),
    });
    const { bytes, firstReleased } = guardedBytes(exchange.bytes, { settings: streamSettings(guard), window, tools });
    await firstReleased;
    return { ...exchange, headers, bytes };
  }
  const bytes = await collect(exchange.bytes, ANSWER_LIMIT);
  if (bytes === null) throw new Unavailable('The answer is too large to be checked.', null);
  const checked = await editedBody(guard, bytes, call);
  return { ...exchange, headers, bytes: streamOfBytes(checked) };
}

/** Error for a body or an answer whose texts the guardrails cannot read. */
function uncheckable(guard: CallGuard, what: string): Rejected {
  const [name = ''] = guard.applied;
  return new Rejected(`The guardrails of this call cannot check ${what}`, name);
}

async function editedBody(guard: CallGuard, bytes: Uint8Array, call: RunningCall): Promise<Uint8Array> {
  const value = parsed(bytes);
  const isJson = value !== undefined;
  // JSON that is no object is wrapped in one, so that its texts have a path.
  const members: Members = isMembers(value) ? value : { value };
  const places = isJson ? allTexts(members) : wholeText(bytes);
  const { texts, isEdited } = await guard.check('post_call', places, withAnswerTools(call, {}, value));
  if (!isEdited) return bytes;
  if (!isJson) return Buffer.from(texts.join(''));
  const edited = { ...members, ...withTexts(members, places, texts) };
  return Buffer.from(editedJson(isMembers(value) ? edited : edited['value']));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
