// Breaks `no-unresolved`.
import { nothing } from '../resolvers/was-never-written.ts';

export const field = nothing;
