import type { AnswerTypes } from './notation.ts';

/** Answer types of the routes about auto routers, in the notation of `http/type-notation.ts`. */
export const AUTO_ROUTER_ANSWERS: AnswerTypes = {
  'autoRouters.fusePresets': `
    { version: string, models: { id: string, label: string, model: string, text: string, sources: string[] }[],
    harnesses: { id: string, label: string, text: string, sources: string[] }[] }
  `,
  'autoRouters.shadowEvaluations': `object[]`,
};
