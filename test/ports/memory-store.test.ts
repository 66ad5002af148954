import { ENGINES } from './engines.ts';
import { memoryStoreSuite } from './memory-store-suite.ts';

for (const engine of ENGINES) memoryStoreSuite(engine);
