/** One-line descriptions of route rows about videos. */
export const VIDEO_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'videos.content': 'Download a video, or a picture of it.',
  'videos.create': 'Start a video.',
  'videos.delete': 'Delete a video.',
  'videos.get': 'Read the state of a video.',
  'videos.list': 'List your videos.',
  'videos.remix': 'Start a new version of a video.',
};
