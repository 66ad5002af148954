import { ENGINES } from './engines.ts';
import { spendStoreSuite } from './spend-store-suite.ts';

for (const engine of ENGINES) spendStoreSuite(engine);
