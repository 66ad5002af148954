import type { AnswerTypes } from './notation.ts';

const VIDEO = `
  { id: string, object?: string, model?: string | null, status?: string, progress?: number | null,
    seconds?: string | number | null, size?: string | null, prompt?: string | null,
    remixed_from_video_id?: string | null }
`;

/** Answers of route rows about videos. */
export const VIDEO_ANSWERS: AnswerTypes = {
  'videos.content': { '*/*': 'unknown' },
  'videos.create': VIDEO,
  'videos.delete': '{ id: string, object?: string, deleted?: boolean }',
  'videos.get': VIDEO,
  'videos.list': `
    { object: string, data: ${VIDEO}[], first_id: string | null, last_id: string | null, has_more: boolean }
  `,
  'videos.remix': VIDEO,
};
