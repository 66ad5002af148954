import { checkoutStoreSuite } from './checkout-store-suite.ts';
import { ENGINES } from './engines.ts';

for (const engine of ENGINES) checkoutStoreSuite(engine);
