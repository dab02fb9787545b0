CREATE TABLE `objectSearches` (
	`startedAt` text PRIMARY KEY NOT NULL,
	`cursor` text
);
--> statement-breakpoint
CREATE INDEX `profilePicturesByObjectKey` ON `profilePictures` (`objectKey`);--> statement-breakpoint
CREATE INDEX `sessionFilesByObjectKey` ON `sessionFiles` (`objectKey`);