// Breaks `resolvers` and `tests-are-unseen`.
import { fake } from '../test/fake.ts';

export const read = fake;
