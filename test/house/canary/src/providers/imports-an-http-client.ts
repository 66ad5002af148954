// Breaks `providers`: the HTTP client is passed in.
import { request } from 'undici';

export const call = request;
