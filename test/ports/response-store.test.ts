import { ENGINES } from './engines.ts';
import { responseStoreSuite } from './response-store-suite.ts';

for (const engine of ENGINES) responseStoreSuite(engine);
