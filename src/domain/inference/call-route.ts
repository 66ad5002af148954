import { OCR } from './document-endpoint.ts';
import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  DECISIONS,
  EMBEDDINGS,
  type Endpoint,
  GENERATE_CONTENT,
  IMAGE_EDITS,
  IMAGE_GENERATIONS,
  IMAGE_VARIATIONS,
  MESSAGES,
  MODERATIONS,
  RERANK,
  RESPONSES,
  RESPONSES_COMPACT,
  SPEECH,
  SYSTEM_ONE,
  TRANSCRIPTIONS,
  TRANSLATIONS,
} from './endpoint.ts';

/** Endpoints by call type. Call types of sessions and upstream objects have no route here. */
const ENDPOINTS: readonly Endpoint[] = [
  CHAT_COMPLETIONS,
  COMPLETIONS,
  MESSAGES,
  RESPONSES,
  RESPONSES_COMPACT,
  EMBEDDINGS,
  MODERATIONS,
  RERANK,
  OCR,
  DECISIONS,
  SYSTEM_ONE,
  SPEECH,
  GENERATE_CONTENT,
  IMAGE_GENERATIONS,
  IMAGE_EDITS,
  IMAGE_VARIATIONS,
  TRANSCRIPTIONS,
  TRANSLATIONS,
];
const ROUTES: ReadonlyMap<string, string> = new Map(ENDPOINTS.map(({ callType, path }) => [callType, path]));

/** The route of a call type, without a version; the call type itself for call types without a route here. */
export const routeOfCallType = (callType: string): string => ROUTES.get(callType) ?? callType;
