import { decisionStoreSuite } from './decision-store-suite.ts';
import { ENGINES } from './engines.ts';

for (const engine of ENGINES) decisionStoreSuite(engine);
