import { isJsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import { plausibleUsage } from '../../domain/inference/plausible-usage.ts';
import { promptTokens } from '../../domain/inference/expected-tokens.ts';
import type { RealtimeFact } from '../../domain/realtime/realtime.ts';
import type { SocketMessage } from '../../domain/realtime/sockets.ts';
import { count, type Fields, number, parseJson, text } from '../json/fields.ts';
import { nestsTooDeep } from '../json/nesting.ts';
import { fieldsAt, type SessionNames, TRANSCRIPTION_PATHS, withMember } from './fields.ts';

/** Keys of the events that are parsed. Audio and text do not match, because quotes inside them are escaped. */
const PARSED_KEYS = ['"model"', '"usage"', '"error"'] as const;

/**
 * An upstream's event for the caller, with public model names. `fact` is the session, usage or error that the event
 * reports, null for all other events. Events that are binary, unreadable or without a parsed key are forwarded
 * unchanged.
 */
export function translateServerEvent(
  message: SocketMessage,
  names: SessionNames,
): { readonly message: SocketMessage; readonly fact: RealtimeFact | null } {
  const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength);
  if (message.binary || !PARSED_KEYS.some((key) => bytes.includes(key))) return { message, fact: null };
  const event = parse(bytes);
  if (event === null) return { message, fact: null };
  const translated = withPublicNames(event, names);
  return {
    message: translated === event ? message : { bytes: Buffer.from(JSON.stringify(translated)), binary: false },
    fact: factOf(event),
  };
}

function parse(bytes: Buffer): Fields | null {
  if (nestsTooDeep(bytes)) return null;
  const value = parseJson(bytes);
  return isJsonObject(value) ? value : null;
}

/** The event with public model names. The upstream may report a longer name than the one in the request. */
function withPublicNames(event: Fields, { publicName, upstreamName }: SessionNames): Fields {
  let translated = event;
  for (const path of [['session'], ['response']] as const) {
    if (text(fieldsAt(event, ...path)?.['model']) !== null)
      translated = withMember(translated, [...path, 'model'], publicName);
  }
  for (const path of TRANSCRIPTION_PATHS) {
    if (fieldsAt(event, ...path)?.['model'] === upstreamName)
      translated = withMember(translated, [...path, 'model'], publicName);
  }
  return translated;
}

function factOf(event: Fields): RealtimeFact | null {
  switch (event['type']) {
    case 'session.created':
    case 'session.updated':
    case 'transcription_session.created':
    case 'transcription_session.updated':
      return sessionOf(event);
    case 'response.done':
      return usageFact('session', fieldsAt(event, 'response', 'usage'), fieldsAt(event, 'response')?.['output']);
    case 'conversation.item.input_audio_transcription.completed':
      return usageFact('transcription', fieldsAt(event, 'usage'), event['transcript']);
    case 'error':
      return { kind: 'error', message: text(fieldsAt(event, 'error')?.['message']) ?? 'The upstream gave no reason.' };
    default:
      return null;
  }
}

function sessionOf(event: Fields): RealtimeFact {
  const session = fieldsAt(event, 'session');
  const models = TRANSCRIPTION_PATHS.map((path) => text(fieldsAt(event, ...path)?.['model']));
  return {
    kind: 'session',
    id: text(session?.['id']),
    model: text(session?.['model']),
    transcriptionModel: models.find((model) => model !== null) ?? null,
  };
}

/**
 * Usage of a response or a transcription: tokens, or seconds of audio. Invalid and implausible counts are replaced by
 * an estimate from the size of `spoken`, which is the output or the transcript. Null when the event reports no usage.
 */
function usageFact(by: 'session' | 'transcription', usage: Fields | undefined, spoken: unknown): RealtimeFact | null {
  const seconds = number(usage?.['seconds']);
  if (seconds !== null && seconds >= 0)
    return { kind: 'used', by, usage: null, measured: { unit: 'second', count: seconds } };
  if (usage === undefined) return null;
  const counts = [usage['input_tokens'], usage['output_tokens']];
  if (counts.every((one) => one === undefined)) return null;
  const areValid = counts.every((one) => one === undefined || one === null || count(one) !== null);
  const reported = areValid ? plausibleUsage(usageOf(usage)) : null;
  return { kind: 'used', by, usage: reported ?? estimateOf(spoken) };
}

/** Estimated usage. Input tokens equal output tokens, because the size of the conversation is unknown. */
function estimateOf(spoken: unknown): Usage {
  const tokens = promptTokens(spoken);
  return { inputTokens: tokens, outputTokens: tokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}

function usageOf(usage: Fields): Usage {
  const input = fieldsAt(usage, 'input_token_details');
  const output = fieldsAt(usage, 'output_token_details');
  const cached = fieldsAt(input, 'cached_tokens_details');
  const imageTokens = count(input?.['image_tokens']) ?? 0;
  return {
    inputTokens: count(usage['input_tokens']) ?? 0,
    outputTokens: count(usage['output_tokens']) ?? 0,
    cacheReadTokens: count(input?.['cached_tokens']) ?? 0,
    cacheWriteTokens: 0,
    reasoningTokens: count(output?.['reasoning_tokens']) ?? 0,
    audio: {
      inputTokens: count(input?.['audio_tokens']) ?? 0,
      outputTokens: count(output?.['audio_tokens']) ?? 0,
      cacheReadTokens: count(cached?.['audio_tokens']) ?? 0,
    },
    ...(imageTokens === 0
      ? {}
      : {
          image: {
            inputTokens: imageTokens,
            outputTokens: 0,
            cacheReadTokens: count(cached?.['image_tokens']) ?? 0,
          },
        }),
  };
}
