import type { Outcome } from '../domain/chat/chat.ts';
import { UpstreamFailed } from '../domain/errors.ts';
import { GatheredBytes } from '../domain/gathered-bytes.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';
import { openAiFrame } from '../wire/chat-completions/native.ts';
import { COHERE_NATIVE } from '../wire/cohere-chat/native.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { GENERATE_CONTENT } from '../wire/generate-content/native.ts';
import { asBuffer } from '../wire/json/members.ts';
import { MESSAGES } from '../wire/messages/native.ts';
import { RESPONSES_FRAME } from '../wire/responses/native.ts';
import { createEventBuffer, endOfEvent } from '../wire/sse/events.ts';

/** Most bytes of an answer, or of one event, that usage is read from. */
const READ_LIMIT = 4 * 1024 * 1024;

/** Reads usage from an answer while it is forwarded. */
export interface AnswerReader {
  add(bytes: Uint8Array): void;
  end(): void;
  /** Null where the answer has another form, or is larger than the limit. */
  outcome(): Outcome | null;
}

const OPENAI = openAiFrame();

/** Format of the answers of an endpoint; null for one whose answers are not read. */
function dialectOf({ dialect, medium, written }: Endpoint): NativeDialect | null {
  switch (dialect) {
    case 'messages':
      return MESSAGES;
    case 'responses':
      return RESPONSES_FRAME;
    case 'generate-content':
      return GENERATE_CONTENT;
    case 'cohere-chat':
      return COHERE_NATIVE;
    case 'chat-completions':
    case 'completions':
      return OPENAI;
    case null:
      return medium === undefined && written === undefined ? OPENAI : null;
    case 'converse':
    case 'ide':
    case 'ollama-chat':
      return null;
  }
}

/** The reader of an answer; null where the format of its usage is not known. */
export function readerOf(
  request: Forwarded & { readonly endpoint: Endpoint },
  headers: Readonly<Record<string, string>>,
): AnswerReader | null {
  const dialect = dialectOf(request.endpoint);
  if (dialect === null || (headers['content-encoding'] ?? 'identity') !== 'identity') return null;
  const type = headers['content-type'] ?? '';
  if (/^\s*text\/event-stream/i.test(type)) return eventReader(dialect, request);
  return /json/i.test(type) ? wholeReader(dialect, request) : null;
}

function wholeReader(
  dialect: NativeDialect,
  { endpoint, model, fields: body }: Forwarded & { readonly endpoint: Endpoint },
) {
  let gathered: GatheredBytes | null = new GatheredBytes();
  let outcome: Outcome | null = null;
  return {
    add(bytes: Uint8Array) {
      gathered?.add(bytes);
      if (gathered !== null && gathered.size > READ_LIMIT) gathered = null;
    },
    end() {
      const answer = gathered === null ? null : dialect.whole(gathered.take(), { endpoint, model, body, textLimit: 0 });
      gathered = null;
      outcome = answer === null || 'error' in answer ? null : answer.outcome;
    },
    outcome: () => outcome,
  };
}

function eventReader(dialect: NativeDialect, { model, provider }: Forwarded): AnswerReader {
  const broken = (message: string): UpstreamFailed => new UpstreamFailed(message, { provider, upstreamStatus: null });
  const inspector = dialect.inspector({
    model,
    dropUsage: false,
    textLimit: 0,
    refused: ({ message }) => broken(message),
    garbled: broken,
  });
  const events = createEventBuffer(READ_LIMIT);
  let isReadable = true;
  function read(run: Buffer | null): void {
    for (let start = 0; run !== null && isReadable && start < run.length;) {
      const end = endOfEvent(run, start);
      // The answer is forwarded as it is: a fault in it ends the reading only.
      isReadable = !(inspector.inspect(run.subarray(start, end)) instanceof Error);
      start = end;
    }
  }
  return {
    add(bytes) {
      if (!isReadable) return;
      try {
        read(events.add(asBuffer(bytes)));
      } catch {
        isReadable = false;
      }
    },
    end: () => read(events.rest()),
    outcome: () => inspector.outcome(),
  };
}
