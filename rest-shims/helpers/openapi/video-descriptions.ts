/** One-line descriptions of route rows about videos. */
export const VIDEO_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'videos.content': 'Download a video, its thumbnail or its spritesheet.',
  'videos.create': 'Start a video.',
  'videos.delete': 'Delete a video.',
  'videos.get': 'Read the state of a video.',
  'videos.list': 'List the videos that the key may see.',
  'videos.remix': 'Start a new version of a video.',
};
