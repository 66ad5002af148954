import { ENGINES } from './engines.ts';
import { pluginStoreSuite } from './plugin-store-suite.ts';

for (const engine of ENGINES) pluginStoreSuite(engine);
