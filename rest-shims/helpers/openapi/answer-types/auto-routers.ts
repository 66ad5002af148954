import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about auto routers. */
export const AUTO_ROUTER_ANSWERS: AnswerTypes = {
  'autoRouters.fusePresets': `
    { version: string, models: { id: string, label: string, model: string, text: string, sources: string[] }[],
    harnesses: { id: string, label: string, text: string, sources: string[] }[] }
  `,
  'autoRouters.shadowEvaluations': `object[]`,
};
