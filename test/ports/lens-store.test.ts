import { ENGINES } from './engines.ts';
import { lensRowStoresSuite } from './lens-row-stores-suite.ts';
import { lensStoreSuite } from './lens-store-suite.ts';

for (const engine of ENGINES) {
  lensStoreSuite(engine);
  lensRowStoresSuite(engine);
}
