import { ENGINES } from './engines.ts';
import { keyStoreSuite } from './key-store-suite.ts';

for (const engine of ENGINES) keyStoreSuite(engine);
