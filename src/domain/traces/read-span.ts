import type { Owner } from '../caller.ts';
import { attributeTexts, textAt } from './attribute-text.ts';
import {
  AGENT_KEYS,
  type Convention,
  firstValue,
  type SpanText,
  PREVIEW_LENGTH,
  textOf,
} from './conventions/convention.ts';
import { GEN_AI } from './conventions/gen-ai-attributes.ts';
import { conventionOf } from './conventions/precedence.ts';
import { frameworkOf, traceSourceOf } from './span-origin.ts';
import type { Attributes, RawSpan, SpanHead, SpanPayload, SpanType } from './span.ts';
import { providerLabel } from './provider-label.ts';
import { labelsOfSpan } from './trace-labels.ts';
import { MAX_VALUE_BYTES, truncateUnits, truncateConversation, truncateText } from './truncate.ts';

/**
 * Maximum bytes of a name or id in a span head, such as the name of its agent or model. The attribute with the name is
 * stored up to the limit of attributes.
 */
const NAME_BYTES = 512;
const SERVICE_KEYS = ['service.name'];
/** LangSmith's key is first, because LangSmith writes its own name into the key that others use for the provider. */
const PROVIDER_KEYS = [
  'langsmith.metadata.ls_provider',
  GEN_AI.providerName,
  'gen_ai.system',
  'llm.provider',
  'llm.system',
  'ai.model.provider',
];
const LOGFIRE_NAME = 'logfire.msg';
const CALL_ID_KEYS = ['litellm.call_id'];
const NO_TEXT: SpanText = { content: '', preview: '', keys: [] };

/**
 * The interpreted head of a span, without its payload. Never fails: invalid values stay among the attributes and count
 * as absent.
 */
export function readHead(span: RawSpan, maxValueBytes = MAX_VALUE_BYTES): SpanHead {
  const { attributes } = span;
  const convention = conventionOf(span);
  const type = convention.type(span);
  const input = convention.input(span, type) ?? NO_TEXT;
  const cut = (text: string): string => truncateText(text, maxValueBytes);
  const model = cutName(firstValue(attributes, convention.modelKeys) ?? convention.model?.(attributes) ?? null);
  const provider = model === null ? null : firstValue(attributes, PROVIDER_KEYS);
  const labels = labelsOfSpan(span, type);
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    // Logfire sends a template as the name, and the filled template in an attribute.
    name: cutName(firstValue(attributes, [LOGFIRE_NAME])) ?? cut(span.name),
    kind: span.kind,
    type,
    agent: agentOf(span, type, convention),
    service: cutName(firstValue(span.resource.attributes, SERVICE_KEYS)) ?? '',
    startNs: span.startNs,
    endNs: span.endNs,
    status: span.status,
    error: errorOf(span, cut),
    model,
    provider: provider === null ? null : cutName(providerLabel(provider)),
    framework: cutName(frameworkOf(span)) ?? '',
    inputTokens: convention.inputTokens(attributes),
    outputTokens: convention.outputTokens(attributes),
    inputPreview: truncateUnits(input.preview, PREVIEW_LENGTH),
    requestId: cutName(
      firstValue(attributes, convention.responseIdKeys) ??
        (type === 'llm' ? (convention.responseId?.(attributes) ?? null) : null),
    ),
    callId: cutName(firstValue(attributes, CALL_ID_KEYS)),
    gateway: false,
    cost: null,
    estimate: null,
    source: traceSourceOf(span),
    // Set also without a value, so that all heads have one hidden class: ingest reads their members many times.
    cacheUnknown: undefined,
    labels,
  };
}

/** The payload of a span, with values cut to `maxValueBytes`. `owner` is its sender. Never fails. */
export function readPayload(span: RawSpan, owner: Owner, maxValueBytes = MAX_VALUE_BYTES): SpanPayload {
  const convention = conventionOf(span);
  const type = convention.type(span);
  const input = convention.input(span, type) ?? NO_TEXT;
  const output = convention.output(span, type) ?? NO_TEXT;
  const textsIn = (attributes: Attributes): Readonly<Record<string, string>> =>
    attributeTexts(attributes, [], maxValueBytes);
  return {
    input: truncateConversation(textOf(input), maxValueBytes),
    output: truncateConversation(textOf(output), maxValueBytes),
    attributes: attributeTexts(span.attributes, [...input.keys, ...output.keys], maxValueBytes),
    resourceAttributes: textsIn(stampedWith(owner, span.resource.attributes)),
    events: span.events.map((event) => ({
      name: truncateText(event.name, maxValueBytes),
      timeNs: event.timeNs,
      attributes: textsIn(event.attributes),
    })),
    links: span.links.map((link) => ({
      traceId: link.traceId,
      spanId: link.spanId,
      attributes: textsIn(link.attributes),
    })),
  };
}

/** The credential decides the owner of a span; owner attributes of its resource are replaced. */
function stampedWith(owner: Owner, attributes: Attributes): Attributes {
  const stamps = {
    'litellm.team_id': owner.teamId ?? '',
    'litellm.api_key_hash': owner.keyHash,
    // The owner of a span is a team and a key. Claims of an organization or a user are removed.
    'litellm.org_id': '',
    'litellm.user_id': '',
  };
  const replaced = Object.entries(stamps).filter(([key]) => attributes[key] !== undefined);
  return replaced.length === 0 ? attributes : { ...attributes, ...Object.fromEntries(replaced) };
}

function agentOf(span: RawSpan, type: SpanType, convention: Convention): string {
  const { attributes, resource, instrumentationScope } = span;
  const declared = convention.agent(span);
  // The Claude Agent SDK names every agent `Agent`, under `agent.name`. Such a span has only its GenAI name, if any.
  const isPlaceholderName =
    type === 'agent' && declared === 'Agent' && instrumentationScope.name.endsWith('.claude_agent_sdk');
  const keys = isPlaceholderName ? [GEN_AI.agentName] : AGENT_KEYS;
  const name =
    (isPlaceholderName ? null : declared) ??
    firstValue(attributes, keys) ??
    firstValue(resource.attributes, [GEN_AI.agentName]);
  return cutName(name) ?? '';
}

/** The status message, else the message or the type of the first exception; null without them. */
function errorOf({ statusMessage, events }: RawSpan, cut: (text: string) => string): string | null {
  if (statusMessage !== '') return cut(statusMessage);
  const exception = events.find((event) => event.name === 'exception')?.attributes;
  if (exception === undefined) return null;
  const message = textAt(exception, 'exception.message') || textAt(exception, 'exception.type');
  return message === '' ? null : cut(message);
}

const cutName = (name: string | null): string | null => (name === null ? null : truncateText(name, NAME_BYTES));
