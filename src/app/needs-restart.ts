/** Keys of the config that are read once, at start (G3). */
export const needsRestart =
  /^(bot\.(data_dir|workspace)|telegram\.|slack\.(?!allow_external)|agent\.concurrency|skills\.(user_dir|bundled|strict)|sandbox\.|store\.|server\.|log\.)/;
