// Breaks `schema`.
import { answer } from '../rest-shims/goes-in-circles.ts';

export const field = answer;
