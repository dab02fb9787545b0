ALTER TABLE `sessionFiles` ADD `contentType` text;--> statement-breakpoint
ALTER TABLE `sessionFiles` ADD `sha256` text;