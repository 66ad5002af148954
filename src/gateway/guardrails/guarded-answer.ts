import { type ByteStream, streamOfBytes, collect } from '../../domain/bytes.ts';
import type { ChatDelta, Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import { Rejected, Unavailable } from '../../domain/errors.ts';
import type { GuardrailEntry } from '../../domain/guardrails/entry.ts';
import type { GuardedText, StreamSettings } from '../../domain/guardrails/guardrail.ts';
import { answerTexts, editedJson } from '../../domain/guardrails/texts/answer-texts.ts';
import { isMembers, type Members, type TextPlace, withTexts } from '../../domain/guardrails/texts/walk.ts';
import { guardedBytes, guardedDeltas } from './guarded-stream.ts';
import type { CallGuard, RunningCall } from './guarding.ts';

/** Maximum size of a complete answer, in bytes. */
const ANSWER_LIMIT = 64 * 1024 * 1024;

/** The answer of a guarded call. */
export interface GuardedAnswer {
  /** Returns the exchange with guardrails on its body. */
  withChecks(exchange: Exchange): Exchange;
  /** Resolves when the head of the answer may be sent. Throws Rejected, GuardrailFailed and Unavailable. */
  checked(): Promise<void>;
  /** Cancels the answer, even before it has arrived. */
  cancel(failure: unknown): void;
}

/** A complete answer after its check. */
interface EditedAnswer {
  readonly bytes: Uint8Array;
  readonly places: readonly TextPlace[];
  /** Null where nothing was edited. */
  readonly texts: readonly string[] | null;
}

/**
 * Prepares the checks of an answer. `passed` is called when the whole answer may be sent, with the edited texts; null
 * where none was edited.
 */
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
  const { endpoint } = request;
  let arrivedExchange: Exchange | null = null;
  let awaitRelease: () => Promise<void> = async () => undefined;
  let cancelled: { readonly failure: Error | undefined } | null = null;

  async function checkStream(texts: readonly string[], isLast: boolean): Promise<readonly string[] | null> {
    const checked = await guard.check('post_call', asAnswer(texts), call, isLast ? 'all' : 'failures');
    if (isLast) passed(checked.isEdited ? checked.texts : null);
    return checked.isEdited ? checked.texts : null;
  }

  function guardStream(exchange: Exchange): Exchange {
    const streamGuard = {
      settings: streamSettings(guard),
      // The last events of the Responses API repeat all texts, and would contain an edited text without its edits.
      isEditable: endpoint.dialect !== null && endpoint.dialect !== 'responses',
      check: checkStream,
      refusal: (where: string) => maskingRefusal(guard, where),
    };
    if (request.typed === true) return { ...exchange, deltas: () => guardedDeltas(exchange.deltas(), streamGuard) };
    const { bytes, firstReleased } = guardedBytes(exchange.bytes, streamGuard);
    // No unhandled rejection: `checked` reports the failure, and the stream ends with it.
    firstReleased.catch(() => undefined);
    awaitRelease = () => firstReleased;
    return { ...exchange, bytes };
  }

  function guardWhole(exchange: Exchange): Exchange {
    let body: ByteStream = exchange.bytes;
    let edited: EditedAnswer | null = null;
    awaitRelease = async () => {
      const bytes = await collect(exchange.bytes, ANSWER_LIMIT);
      if (bytes === null) throw new Unavailable('The answer is too large to be checked.', null);
      edited = await editedAnswer(bytes);
      passed(edited.texts);
      body = streamOfBytes(edited.bytes);
    };
    const checkedBytes: ByteStream = {
      pipe: (sink) => body.pipe(sink),
      resume: () => body.resume(),
      cancel: (failure) => body.cancel(failure),
    };
    return {
      ...exchange,
      bytes: checkedBytes,
      deltas: () =>
        edited?.texts == null ? exchange.deltas() : withEdits(exchange.deltas(), edited.places, edited.texts),
      outcome() {
        const outcome = exchange.outcome();
        if (edited?.texts == null || outcome.text === null) return outcome;
        // The recorded text may be cut to a limit: the edited text is cut to the same length.
        const text = textOf(edited.places, edited.texts, 'text').slice(0, outcome.text.length);
        return { ...outcome, text };
      },
    };
  }

  async function editedAnswer(bytes: Uint8Array): Promise<EditedAnswer> {
    const body = parsed(bytes);
    // A transcript may be plain text.
    const places: readonly TextPlace[] =
      body === null
        ? [{ text: new TextDecoder().decode(bytes), path: [], role: 'assistant' }]
        : answerTexts(endpoint, body);
    const checked = await guard.check('post_call', places, call);
    const texts = checked.isEdited ? checked.texts : null;
    if (body === null) return { bytes: texts === null ? bytes : Buffer.from(texts.join('')), places, texts };
    const written =
      texts === null
        ? bytes
        : Buffer.from(editedJson({ ...body, ...withTexts(body, places, texts) }, endpoint.answers.member));
    return { bytes: request.reportsGuardrails === true ? withReport(written, guard.entries) : written, places, texts };
  }

  return {
    withChecks(exchange) {
      if (cancelled !== null) {
        exchange.bytes.cancel(cancelled.failure);
        return exchange;
      }
      arrivedExchange = exchange;
      const isChecked = guard.has('post_call');
      if (exchange.streaming) return isChecked ? guardStream(exchange) : exchange;
      const hasTexts = endpoint.answers.member !== null;
      const isRewritten = isChecked || request.reportsGuardrails === true;
      return hasTexts && isRewritten ? guardWhole(exchange) : exchange;
    },
    checked: () => awaitRelease(),
    cancel(failure) {
      cancelled = { failure: failure instanceof Error ? failure : undefined };
      arrivedExchange?.bytes.cancel(cancelled.failure);
    },
  };
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
