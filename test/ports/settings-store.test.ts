import { ENGINES } from './engines.ts';
import { settingsStoreSuite } from './settings-store-suite.ts';

for (const engine of ENGINES) settingsStoreSuite(engine);
