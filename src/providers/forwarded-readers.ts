import type { Outcome, Usage } from '../domain/chat/chat.ts';
import { UpstreamFailed } from '../domain/errors.ts';
import { GatheredBytes } from '../domain/gathered-bytes.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';
import { createMessageReader, type Message } from '../wire/aws-event-stream/messages.ts';
import { chargedOf } from '../wire/chat-completions/answer.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { EMPTY_OUTCOME } from '../wire/exchange.ts';
import { object, parseJson, text } from '../wire/json/fields.ts';
import { asBuffer } from '../wire/json/members.ts';
import { mergedUsage, createdVideo, type Reported, reportedIn } from '../wire/reported-usage/reported.ts';
import { createEventBuffer, dataOf, endOfEvent } from '../wire/sse/events.ts';

/** Maximum bytes of a whole answer. The usage of a larger one is not read. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of one event or line, and of a whole answer in an unknown format. */
const MAX_PARSED_BYTES = 4 * 1024 * 1024;

/** Reads usage from an answer while it is forwarded. Never throws. */
export interface UsageReader {
  add(bytes: Uint8Array): void;
  end(): void;
  /** Outcome of the part that has been read; null when nothing was read. */
  outcome(): Outcome | null;
  /** Events of a stream so far; zero for a whole answer. */
  readonly events: number;
}

/**
 * An answer to read: its request and its dialect. Without a dialect, usage is read from the members that known vendors
 * use.
 */
export interface ForwardedAnswer {
  readonly request: Forwarded;
  readonly dialect: NativeDialect | null;
}

const LF = 0x0a;
/**
 * Parts of member names that report usage, such as `usage` and `promptTokenCount`. An event with none of these parts is
 * not parsed. First letters are left out, because vendors write some in upper case.
 */
const USAGE_MARKERS = ['sage"', 'okenCount', 'billed_units', 'sageMetadata'] as const;
const mayContainUsage = (data: Buffer): boolean => USAGE_MARKERS.some((mark) => data.includes(mark));

/** Collects the usage that a whole answer or the events of a stream report. */
function createUsageTally(provider: string) {
  let usage: Usage | null = null;
  let measured: Reported['measured'];
  let model: string | null = null;
  let lastEventWithUsage: unknown = null;
  return {
    add(event: unknown) {
      const reported = reportedIn(event);
      if (reported === null) return;
      usage = mergedUsage(usage, reported.usage);
      measured = reported.measured ?? measured;
      model = reported.model ?? model;
      if (reported.usage !== null) lastEventWithUsage = event;
    },
    outcome(): Outcome | null {
      const charged = provider === 'openrouter' ? chargedOf(lastEventWithUsage) : undefined;
      const outcome = {
        ...EMPTY_OUTCOME,
        responseModel: model,
        usage,
        ...(measured === undefined ? {} : { measured }),
        ...(charged === undefined ? {} : { charged }),
      };
      return hasBilledQuantity(outcome) ? outcome : null;
    },
  };
}

export const hasBilledQuantity = ({ usage, measured, charged }: Outcome): boolean =>
  usage !== null || measured !== undefined || charged !== undefined;

/** Reads a whole answer when it has ended. */
export function wholeReader({ request, dialect }: ForwardedAnswer): UsageReader {
  const { endpoint, model, fields, form, provider } = request;
  let gathered: GatheredBytes | null = new GatheredBytes();
  let outcome: Outcome | null = null;

  function readDialect(bytes: Uint8Array, knownEndpoint: Endpoint): Outcome | null {
    const answer =
      dialect?.whole(bytes, {
        endpoint: knownEndpoint,
        model,
        body: fields,
        textLimit: 0,
        ...(form === undefined ? {} : { form }),
      }) ?? null;
    return answer === null || 'error' in answer ? null : answer.outcome;
  }

  function readKnownMembers(bytes: Uint8Array): Outcome | null {
    if (bytes.length > MAX_PARSED_BYTES) return null;
    const tally = createUsageTally(provider);
    const value = parseJson(bytes);
    // Google's streams without `alt=sse` are an array of answers.
    for (const one of Array.isArray(value) ? value : [value]) tally.add(one);
    const video = request.method === 'POST' ? createdVideo(value) : undefined;
    return video === undefined ? tally.outcome() : { ...EMPTY_OUTCOME, measured: video };
  }

  return {
    events: 0,
    add(bytes) {
      gathered?.add(bytes);
      if (gathered !== null && gathered.size > MAX_ANSWER_BYTES) gathered = null;
    },
    end() {
      const bytes = gathered?.take() ?? null;
      gathered = null;
      if (bytes === null) return;
      outcome = endpoint === null ? null : readDialect(bytes, endpoint);
      if (outcome === null || !hasBilledQuantity(outcome)) outcome = readKnownMembers(bytes) ?? outcome;
    },
    outcome: () => outcome,
  };
}

/** Reads server-sent events. */
export function eventReader({ request, dialect }: ForwardedAnswer): UsageReader {
  const { model, provider, fields } = request;
  const failure = (message: string): UpstreamFailed => new UpstreamFailed(message, { provider, upstreamStatus: null });
  const inspector =
    dialect?.inspector({
      model,
      body: fields,
      removeUsageChunk: false,
      textLimit: 0,
      upstreamError: ({ message }) => failure(message),
      formatError: failure,
    }) ?? null;
  const tally = createUsageTally(provider);
  const buffer = createEventBuffer(MAX_PARSED_BYTES);
  let isReadable = true;
  let events = 0;

  function readEvent(event: Buffer): void {
    events += 1;
    // An invalid event or an error ends only the reading. The answer is still forwarded.
    if (inspector !== null) isReadable = !(inspector.inspect(event) instanceof Error);
    const data = inspector === null ? dataOf(event) : null;
    if (data !== null && mayContainUsage(data)) tally.add(parseJson(data));
  }

  function read(completeEvents: Buffer | null): void {
    if (completeEvents === null) return;
    let start = 0;
    while (isReadable && start < completeEvents.length) {
      const end = endOfEvent(completeEvents, start);
      readEvent(completeEvents.subarray(start, end));
      start = end;
    }
  }

  return {
    get events() {
      return events;
    },
    add(bytes) {
      if (!isReadable) return;
      try {
        read(buffer.add(asBuffer(bytes)));
      } catch {
        isReadable = false;
      }
    },
    end: () => read(buffer.rest()),
    outcome: () => inspector?.outcome() ?? tally.outcome(),
  };
}

/** Reads newline-delimited JSON. */
export function lineReader({ request }: ForwardedAnswer): UsageReader {
  const tally = createUsageTally(request.provider);
  let rest: Buffer = Buffer.alloc(0);
  let isReadable = true;
  let events = 0;
  const read = (line: Buffer): void => {
    if (line.length === 0) return;
    events += 1;
    if (mayContainUsage(line)) tally.add(parseJson(line));
  };
  return {
    get events() {
      return events;
    },
    add(bytes) {
      if (!isReadable) return;
      rest = rest.length === 0 ? asBuffer(bytes) : Buffer.concat([rest, bytes]);
      for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF)) {
        read(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
      }
      isReadable = rest.length <= MAX_PARSED_BYTES;
      if (!isReadable) rest = Buffer.alloc(0);
    },
    end: () => read(rest),
    outcome: () => tally.outcome(),
  };
}

/** Reads an AWS event stream. Bedrock's native streams have their JSON in base64, in the member `bytes`. */
export function messageReader({ request }: ForwardedAnswer): UsageReader {
  const tally = createUsageTally(request.provider);
  const messages = createMessageReader();
  let isReadable = true;
  let events = 0;
  function read({ payload }: Message): void {
    events += 1;
    const value = parseJson(payload);
    tally.add(value);
    const encoded = text(object(value)['bytes']);
    if (encoded !== null) tally.add(parseJson(Buffer.from(encoded, 'base64')));
  }
  return {
    get events() {
      return events;
    },
    add(bytes) {
      if (!isReadable) return;
      try {
        messages.add(bytes, read);
      } catch {
        isReadable = false;
      }
    },
    end() {},
    outcome: () => tally.outcome(),
  };
}
