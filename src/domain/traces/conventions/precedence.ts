import type { RawSpan } from '../span.ts';
import { aiSdk } from './ai-sdk.ts';
import { claudeCode } from './claude-code.ts';
import type { Convention } from './convention.ts';
import { genAi } from './gen-ai.ts';
import { langSmith } from './lang-smith.ts';
import { logfire } from './logfire.ts';
import { openInference } from './open-inference.ts';
import { traceloop } from './traceloop.ts';

/**
 * Every convention, in the order they are asked; the first that recognises a span reads it. What declares the kind
 * of a span stands before what only marks it: OpenInference and Traceloop translate the AI SDK's spans and keep its
 * attributes, and Logfire marks every span that passes through it. The last recognises every span.
 */
export const CONVENTIONS: readonly Convention[] = [
  claudeCode,
  langSmith,
  openInference,
  traceloop,
  aiSdk,
  logfire,
  genAi,
];

/** The convention a span speaks. Asked once a span: each asks for a few keys, none reads a value. */
export const conventionOf = (span: RawSpan): Convention =>
  CONVENTIONS.find((candidate) => candidate.recognises(span)) ?? genAi;
