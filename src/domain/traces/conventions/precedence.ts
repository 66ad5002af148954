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
 * Every convention, in order; the first that recognises a span reads it. The last recognises every span. Conventions
 * that declare the kind of a span precede those that only mark it. OpenInference and Traceloop precede the AI SDK:
 * they translate its spans and keep its attributes. Logfire comes after them, because it marks every span that passes
 * through it.
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

/**
 * The convention of a span, by its instrumentation scope and the presence of a few attributes. No attribute value is
 * read.
 */
export const conventionOf = (span: RawSpan): Convention =>
  CONVENTIONS.find((candidate) => candidate.recognises(span)) ?? genAi;
