// Violates the layer rules `resolvers` and `tests-are-unseen` on purpose (`test/house/layer-rules.ts`).
import { fake } from '../test/fake.ts';

export const read = fake;
