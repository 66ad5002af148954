import type { SpanHead, SpanPayload } from './span.ts';
import { isJson, parseStructure } from './conventions/conversation.ts';

/** Session, user and tags that the sender of a trace states. */
export interface TraceLabels {
  readonly sessionId: string | null;
  readonly userId: string | null;
  /** Distinct, sorted. */
  readonly tags: readonly string[];
}

type Texts = SpanPayload['attributes'];

/** Attributes of each convention, the agreed name first. OpenInference and LangChain also have a JSON `metadata`. */
const SESSION_KEYS = [
  'session.id',
  'gen_ai.conversation.id',
  'langfuse.session.id',
  'langsmith.trace.session_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.thread_id',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'ai.telemetry.metadata.sessionId',
  'ai.telemetry.metadata.session_id',
  'mlflow.trace.session',
];
const USER_KEYS = [
  'user.id',
  'enduser.id',
  'langfuse.user.id',
  'langsmith.metadata.user_id',
  'traceloop.association.properties.user_id',
  'ai.telemetry.metadata.userId',
  'ai.telemetry.metadata.user_id',
  'mlflow.trace.user',
];
const TAG_KEYS = [
  'tag.tags',
  'langfuse.trace.tags',
  'langsmith.span.tags',
  'logfire.tags',
  'ai.telemetry.metadata.tags',
  'traceloop.association.properties.tags',
];
const METADATA_KEY = 'metadata';
const SESSION_MEMBERS = ['session_id', 'thread_id', 'conversation_id'];
const USER_MEMBERS = ['user_id'];

/** Limits of one label, in characters, and of the tags of a trace. */
const LONGEST = 512;
const MOST_TAGS = 100;
/** Most spans of a trace whose attributes are read. */
const MOST_SPANS = 8;

const LABELLED: ReadonlySet<SpanHead['type']> = new Set(['agent', 'llm', 'chain']);

/** The spans to read labels from: roots first, then the earliest others. `spans` are in order of start. */
export function labelledSpans(spans: readonly SpanHead[]): readonly SpanHead[] {
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === null);
  const others = spans.filter(({ parentSpanId, type }) => parentSpanId !== null && LABELLED.has(type));
  return [...roots, ...others].slice(0, MOST_SPANS);
}

/** The first session and user, and all tags, of these attributes. */
export function labelsOf(attributes: readonly Texts[]): TraceLabels {
  const first = (keys: readonly string[], members: readonly string[]): string | null => {
    for (const texts of attributes) {
      const found = valueIn(texts, keys) ?? memberIn(texts[METADATA_KEY], members);
      if (found !== null) return found;
    }
    return null;
  };
  const tags = new Set(attributes.flatMap((texts) => TAG_KEYS.flatMap((key) => tagsIn(texts[key]))));
  return {
    sessionId: first(SESSION_KEYS, SESSION_MEMBERS),
    userId: first(USER_KEYS, USER_MEMBERS),
    tags: [...tags].toSorted().slice(0, MOST_TAGS),
  };
}

function valueIn(texts: Texts, keys: readonly string[]): string | null {
  for (const key of keys) {
    const label = labelOf(texts[key]);
    if (label !== null) return label;
  }
  return null;
}

function memberIn(text: string | undefined, members: readonly string[]): string | null {
  const metadata = parseStructure(text ?? '');
  if (!isJson(metadata)) return null;
  for (const member of members) {
    const label = labelOf(metadata[member]);
    if (label !== null) return label;
  }
  return null;
}

/** A JSON list of texts, or texts with commas between them. */
function tagsIn(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const parsed = parseStructure(text);
  const parts: readonly unknown[] = Array.isArray(parsed) ? parsed : text.split(',');
  return parts.flatMap((part) => labelOf(part) ?? []);
}

/** Null for anything but a text, and for a blank or too long one. Missing values are stored as `null`. */
function labelOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text === 'null' || text.length > LONGEST ? null : text;
}
