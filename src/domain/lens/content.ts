import { contentViewOf } from '../traces/content-view.ts';
import type { Span } from '../traces/span.ts';

/** Text of one span, as reviewers read it. Times are ISO 8601, UTC. */
export interface ContentPart {
  readonly executionId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: string;
  readonly content: string;
  /** Whether the text is longer than this part shows. */
  readonly truncated: boolean;
  readonly startTime: string;
  readonly endTime: string;
}

/** A page of the spans of an execution, by start. */
export interface ContentPage {
  readonly parts: readonly ContentPart[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** Whether the page may show less than the whole execution. The server always states true. */
  readonly partial: boolean;
  readonly contentVersion: string;
}

/** Number of spans of a page, and maximum length of a part in characters. */
export const PAGE_PARTS = 40;
const PART_CHARACTERS = 8_000;

/** Text of an input or output, without the JSON around the messages of a conversation. */
function readable(stored: string): string {
  const view = contentViewOf(stored);
  switch (view.kind) {
    case 'text':
    case 'fields':
      return stored;
    case 'messages':
      return view.messages
        .map(({ role, content, toolCalls }) =>
          [`[${role}] ${content}`, ...toolCalls.map((call) => `[tool call] ${call.name} ${call.arguments}`)].join('\n'),
        )
        .join('\n');
  }
}

/** The whole text of a span, with headings. */
function spanText({ input, output, error, status }: Span): string {
  const sections = [
    input === '' ? '' : `Input:\n${readable(input)}`,
    output === '' ? '' : `Output:\n${readable(output)}`,
    error === null || error === '' ? '' : `Error:\n${error}`,
  ].filter((text) => text !== '');
  return sections.length === 0 ? `(no content recorded; status ${status})` : sections.join('\n\n');
}

const isoOf = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString();

/** One part of the text of a span, from an offset in characters. */
export function contentPart(executionId: string, span: Span, offset: number): ContentPart {
  const whole = spanText(span);
  const content = whole.slice(offset, offset + PART_CHARACTERS);
  return {
    executionId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    kind: span.type,
    content,
    truncated: offset + content.length < whole.length,
    startTime: isoOf(span.startNs),
    endTime: isoOf(span.endNs),
  };
}

/** Texts that a quote may be from: the stored text, and the messages in it. */
function piecesOf(stored: string): readonly string[] {
  const view = contentViewOf(stored);
  switch (view.kind) {
    case 'text':
    case 'fields':
      return [stored];
    case 'messages':
      return [stored, ...view.messages.flatMap((one) => [one.content, ...one.toolCalls.map((call) => call.arguments)])];
  }
}

/** Whether a quote is literally in the input, output or error of a span. */
export function isQuoteOf({ input, output, error }: Pick<Span, 'input' | 'output' | 'error'>, quote: string): boolean {
  if (quote.trim() === '') return false;
  return [...piecesOf(input), ...piecesOf(output), error ?? ''].some((piece) => piece.includes(quote));
}

/** Headings that `spanText` adds to the texts of a span. */
const HEADING = /^(?:Input|Output|Error):$|^\[(?:system|user|assistant|tool)\] |^\[tool call\] \S* /m;

/** Whether a quote is literally in the shown text of a span, its headings excepted. */
export const isQuoteOfPart = ({ content }: Pick<ContentPart, 'content'>, quote: string): boolean =>
  quote.trim() !== '' && content.split(HEADING).some((piece) => piece.trim().includes(quote));
