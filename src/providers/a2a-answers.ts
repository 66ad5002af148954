import type { Outcome } from '../domain/chat/chat.ts';
import { GatheredBytes } from '../domain/gathered-bytes.ts';
import { tokensOfBytes } from '../domain/inference/expected-tokens.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';
import { answerTextBytes, errorIn, requestTextBytes } from '../wire/a2a/texts.ts';
import { EMPTY_OUTCOME } from '../wire/exchange.ts';
import { parseJson } from '../wire/json/fields.ts';
import { createEventBuffer, dataOf, endOfEvent } from '../wire/sse/events.ts';
import type { UsageReader } from './forwarded-readers.ts';

/** Maximum bytes of a whole answer, or of one event. All bytes of a larger one, and after it, count as text. */
const MAX_PARSED_BYTES = 4 * 1024 * 1024;

/** Content types of the protocol. */
const SERVED_TYPE = /^\s*(?:application\/(?:[\w.-]+\+)?json|text\/event-stream)\b/i;

/** The failure of an answer that clients do not get, and that therefore costs nothing: a redirect or a page. */
function faultOf({ location, 'content-type': type }: Readonly<Record<string, string>>): Outcome['failure'] {
  if (location === undefined && (type === undefined || SERVED_TYPE.test(type))) return null;
  return { code: 'not_relayed', message: 'The answer of the agent is a redirect, or not of the protocol.' };
}

/**
 * Reads the answer of an agent: the error of JSON-RPC, and the size of its texts. The protocol reports no usage, so
 * tokens are estimated by the texts of the message and of the answer.
 */
export function a2aReader({ fields }: Forwarded, headers: Readonly<Record<string, string>>): UsageReader {
  const isEvents = /^\s*text\/event-stream/i.test(headers['content-type'] ?? '');
  const buffer = createEventBuffer(MAX_PARSED_BYTES);
  let gathered = new GatheredBytes();
  /** Whether nothing exceeds the limit so far. */
  let isParsed = true;
  let events = 0;
  let textBytes = 0;
  let failure: Outcome['failure'] = faultOf(headers);

  function read(answer: unknown): void {
    textBytes += answerTextBytes(answer);
    failure = errorIn(answer) ?? failure;
  }

  function readEvents(complete: Buffer | null): void {
    if (complete === null) return;
    let start = 0;
    while (start < complete.length) {
      const end = endOfEvent(complete, start);
      const data = dataOf(complete.subarray(start, end));
      if (data !== null) {
        events += 1;
        read(parseJson(data));
      }
      start = end;
    }
  }

  /** Ends the parsing after `size` bytes. The answer is still forwarded. */
  function endParsing(size: number): void {
    isParsed = false;
    textBytes += size;
  }

  function addEvents(bytes: Uint8Array): void {
    try {
      readEvents(buffer.add(bytes));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      endParsing(MAX_PARSED_BYTES);
    }
  }

  function addWhole(bytes: Uint8Array): void {
    gathered.add(bytes);
    if (gathered.size <= MAX_PARSED_BYTES) return;
    endParsing(gathered.size);
    gathered = new GatheredBytes();
  }

  return {
    get events() {
      return events;
    },
    add(bytes) {
      if (!isParsed) textBytes += bytes.length;
      else if (isEvents) addEvents(bytes);
      else addWhole(bytes);
    },
    end() {
      if (!isParsed) return;
      isParsed = false;
      if (isEvents) readEvents(buffer.rest());
      else read(parseJson(gathered.take()));
    },
    outcome: () => ({
      ...EMPTY_OUTCOME,
      failure,
      usage: {
        inputTokens: tokensOfBytes(requestTextBytes(fields)),
        outputTokens: tokensOfBytes(textBytes),
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
    }),
  };
}
