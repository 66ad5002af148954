import { type ByteStream, streamOfBytes, collect } from '../../domain/bytes.ts';
import type { ChatDelta, Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import type { MadeDecision } from '../../domain/decisions/decision.ts';
import { Rejected, Unavailable } from '../../domain/errors.ts';
import type { GuardrailEntry } from '../../domain/guardrails/entry.ts';
import type { GuardedText, StreamSettings } from '../../domain/guardrails/guardrail.ts';
import { answerTexts, editedJson } from '../../domain/guardrails/texts/answer-texts.ts';
import { decisionTexts } from '../../domain/guardrails/texts/decision-texts.ts';
import { isMembers, type Members, type TextPlace, withTexts } from '../../domain/guardrails/texts/walk.ts';
import { createStreamWindow, guardedBytes, guardedDeltas } from './guarded-stream.ts';
import type { CallGuard, RunningCall } from './guarding.ts';
import { createStreamTools, withAnswerTools } from './inspected-tools.ts';

/** Maximum size of a complete answer, in bytes. */
const ANSWER_LIMIT = 64 * 1024 * 1024;

/** The answer of a guarded call. */
export interface GuardedAnswer {
  /** Returns the exchange with guardrails on its body. Its outcome has no text before `release`. */
  withChecks(exchange: Exchange): Exchange;
  /** Resolves when the head of the answer may be sent. Throws Rejected, GuardrailFailed and Unavailable. */
  checked(): Promise<void>;
  /** Allows the record of the call to have the text of the answer. Returns the decision with its edits, if any. */
  release(): MadeDecision | undefined;
  /** Cancels the answer, even before it has arrived. */
  cancel(failure: unknown): void;
}

/** A complete answer after its check. */
interface CheckedAnswer extends Pick<Exchange, 'deltas' | 'outcome' | 'decision'> {
  readonly bytes: Uint8Array;
}

/** Prepares the checks of an answer. `passed` is called when all of it may be sent, with the edited texts, or null. */
export function guardAnswer(
  guard: CallGuard,
  {
    request,
    call,
    passed,
  }: {
    readonly request: ModelRequest;
    readonly call: RunningCall;
    readonly passed: (texts: readonly string[] | null) => void;
  },
): GuardedAnswer {
  const { endpoint, textLimit } = request;
  let arrivedExchange: Exchange | null = null;
  let awaitRelease: () => Promise<void> = async () => undefined;
  let cancelled: { readonly failure: Error | undefined } | null = null;
  let isReleased = false;
  let decision: Exchange['decision'];

  function guardStream(exchange: Exchange): Exchange {
    const tools = guard.readsTools('post_call') ? createStreamTools(request.body) : null;
    const running = tools === null ? call : { ...call, tools: () => tools.checked() };
    async function checkStream(texts: readonly string[], isLast: boolean): Promise<readonly string[] | null> {
      const checked = await guard.check('post_call', asAnswer(texts), running, isLast ? 'all' : 'failures');
      return checked.isEdited ? checked.texts : null;
    }
    const window = createStreamWindow({
      // The last events of the Responses API repeat all texts, and would contain an edited text without its edits.
      isEditable: endpoint.dialect !== null && endpoint.dialect !== 'responses',
      check: checkStream,
      ...(tools === null ? {} : { isCheckDue: () => tools.isCheckDue() }),
      refusal: (where: string) => maskingRefusal(guard, where),
      // Only responses are stored, and their streams cannot be edited.
      passed: () => passed(null),
    });
    const streamGuard = { settings: streamSettings(guard), window, tools };
    const guarded: Exchange = {
      ...exchange,
      outcome() {
        const outcome = exchange.outcome();
        const { text } = outcome;
        return text === null ? outcome : { ...outcome, text: window.recordedText(text).slice(0, textLimit) };
      },
    };
    if (request.typed === true) return { ...guarded, deltas: () => guardedDeltas(exchange.deltas(), streamGuard) };
    const { bytes, firstReleased } = guardedBytes(exchange.bytes, streamGuard);
    // No unhandled rejection: `checked` reports the failure, and the stream ends with it.
    firstReleased.catch(() => undefined);
    awaitRelease = () => firstReleased;
    return { ...guarded, bytes };
  }

  function guardWhole(exchange: Exchange): Exchange {
    let body: ByteStream = exchange.bytes;
    let checked: Omit<CheckedAnswer, 'bytes'> = exchange;
    awaitRelease = async () => {
      const answer = await (exchange.decision === undefined
        ? checkedText(exchange)
        : checkedDecision(exchange, exchange.decision));
      const { bytes } = answer;
      checked = answer;
      decision = answer.decision;
      body = streamOfBytes(request.reportsGuardrails === true ? withReport(bytes, guard.entries) : bytes);
    };
    const checkedBytes: ByteStream = {
      pipe: (sink) => body.pipe(sink),
      resume: () => body.resume(),
      cancel: (failure) => body.cancel(failure),
    };
    return { ...exchange, bytes: checkedBytes, deltas: () => checked.deltas(), outcome: () => checked.outcome() };
  }

  async function checkedText(exchange: Exchange): Promise<CheckedAnswer> {
    const bytes = await bytesOf(exchange);
    const body = parsed(bytes);
    // A transcript may be plain text.
    const places: readonly TextPlace[] =
      body === null
        ? [{ text: new TextDecoder().decode(bytes), path: [], role: 'assistant' }]
        : answerTexts(endpoint, body);
    const { texts, isEdited } = await guard.check('post_call', places, withAnswerTools(call, request.body, body));
    passed(isEdited ? texts : null);
    const unedited = { bytes, deltas: () => exchange.deltas(), outcome: () => exchange.outcome() };
    if (!isEdited) return unedited;
    return {
      bytes:
        body === null
          ? Buffer.from(texts.join(''))
          : Buffer.from(editedJson({ ...body, ...withTexts(body, places, texts) }, endpoint.answers.member)),
      deltas: () => withEdits(exchange.deltas(), places, texts),
      outcome() {
        const outcome = exchange.outcome();
        return outcome.text === null ? outcome : { ...outcome, text: recordedText(places, texts).slice(0, textLimit) };
      },
    };
  }

  async function checkedDecision(exchange: Exchange, made: MadeDecision): Promise<CheckedAnswer> {
    const texts = decisionTexts(made);
    const checked = await guard.check('post_call', texts.places, call);
    if (checked.isEdited && exchange.withDecision === undefined) throw maskingRefusal(guard, 'in this answer');
    const shown = checked.isEdited ? exchange.withDecision?.(texts.withTexts(checked.texts)) : undefined;
    return { ...(shown ?? exchange), bytes: await bytesOf(shown ?? exchange) };
  }

  function withBodyChecks(exchange: Exchange): Exchange {
    const isChecked = guard.has('post_call');
    if (exchange.streaming) return isChecked ? guardStream(exchange) : exchange;
    const hasTexts = endpoint.answers.member !== null;
    const isRewritten = isChecked || request.reportsGuardrails === true;
    return hasTexts && isRewritten ? guardWhole(exchange) : exchange;
  }

  return {
    withChecks(exchange) {
      if (cancelled === null) arrivedExchange = exchange;
      else exchange.bytes.cancel(cancelled.failure);
      decision = exchange.decision;
      const guarded = cancelled === null ? withBodyChecks(exchange) : exchange;
      return {
        ...guarded,
        outcome() {
          const outcome = guarded.outcome();
          return isReleased || outcome.text === null ? outcome : { ...outcome, text: '' };
        },
      };
    },
    checked: () => awaitRelease(),
    release() {
      isReleased = true;
      return decision;
    },
    cancel(failure) {
      cancelled = { failure: failure instanceof Error ? failure : undefined };
      arrivedExchange?.bytes.cancel(cancelled.failure);
    },
  };
}

async function bytesOf({ bytes }: Exchange): Promise<Uint8Array> {
  const collected = await collect(bytes, ANSWER_LIMIT);
  if (collected === null) throw new Unavailable('The answer is too large to be checked.', null);
  return collected;
}

const asAnswer = (texts: readonly string[]): readonly GuardedText[] =>
  texts.map((text) => ({ text, role: 'assistant' }));

/** The strictest stream settings among the guardrails that check the answer. */
export function streamSettings(guard: CallGuard): StreamSettings {
  const all = guard.of('post_call').map(({ stream }) => stream);
  return {
    samplingRate: Math.min(...all.map(({ samplingRate }) => samplingRate)),
    atEndOnly: all.some(({ atEndOnly }) => atEndOnly),
  };
}

/** Error for a text that a guardrail would mask where masking is not possible. */
export function maskingRefusal(guard: CallGuard, where: string): Rejected {
  const [name = ''] = guard.applied;
  return new Rejected(`The guardrails of this call would mask a text ${where}, where they can only block`, name);
}

function parsed(bytes: Uint8Array): Members | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isMembers(value) ? value : null;
  } catch {
    return null;
  }
}

const CLOSING_BRACE = 0x7d;

/** Appends the list of guardrail runs to a JSON object as its last member. All other bytes are unchanged. */
function withReport(bytes: Uint8Array, entries: readonly GuardrailEntry[]): Uint8Array {
  const end = bytes.lastIndexOf(CLOSING_BRACE);
  const before = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  const isEmpty = before.toString('latin1').trim() === '{';
  return Buffer.concat([
    before,
    Buffer.from(`${isEmpty ? '' : ','}"guardrail_information":${JSON.stringify(entries)}}`),
  ]);
}

const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking', 'thinking_blocks', 'summary'];

/** Which part of an answer a place belongs to. */
function kindOf({ path }: TextPlace): 'text' | 'reasoning' | 'arguments' {
  if (REASONING.some((name) => path.includes(name))) return 'reasoning';
  const isOfToolCall = ['tool_calls', 'arguments', 'args', 'input'].some((name) => path.includes(name));
  return isOfToolCall ? 'arguments' : 'text';
}

const textOf = (places: readonly TextPlace[], texts: readonly string[], kind: ReturnType<typeof kindOf>): string =>
  places.map((place, index) => (kindOf(place) === kind ? (texts[index] ?? '') : '')).join('');

/** The text to record for an edited answer: all of it, without reasoning, and without a copy in `output_text`. */
const recordedText = (places: readonly TextPlace[], texts: readonly string[]): string =>
  places
    .map((place, index) => (kindOf(place) === 'reasoning' || place.path[0] === 'output_text' ? '' : texts[index]))
    .join('');

/**
 * The deltas of a complete answer with its edited texts. The first text delta has the whole text, and the first
 * reasoning delta the whole reasoning. Later ones are left out.
 */
async function* withEdits(
  deltas: AsyncIterableIterator<ChatDelta>,
  places: readonly TextPlace[],
  texts: readonly string[],
): AsyncGenerator<ChatDelta, undefined> {
  const toolArguments = texts.filter((_text, index) => {
    const place = places[index];
    return place !== undefined && kindOf(place) === 'arguments';
  });
  const replacedKinds = new Set<string>();
  for await (const delta of deltas) {
    if (delta.kind === 'toolCall') yield { ...delta, arguments: toolArguments[delta.index] ?? delta.arguments };
    else if (delta.kind !== 'text' && delta.kind !== 'reasoning') yield delta;
    else if (!replacedKinds.has(delta.kind)) yield { ...delta, text: textOf(places, texts, delta.kind) };
    replacedKinds.add(delta.kind);
  }
}
