import { ENGINES } from './engines.ts';
import { guardrailUseStoreSuite } from './guardrail-use-store-suite.ts';

for (const engine of ENGINES) guardrailUseStoreSuite(engine);
