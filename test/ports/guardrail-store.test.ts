import { guardrailStoreSuite } from './guardrail-store-suite.ts';
import { ENGINES } from './engines.ts';

for (const engine of ENGINES) guardrailStoreSuite(engine);
