CREATE TABLE `organizationUsage` (
	`organizationId` text PRIMARY KEY NOT NULL,
	`sessions` integer NOT NULL,
	`files` integer NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `organizationUsage` (`organizationId`, `sessions`, `files`, `bytes`)
SELECT o.`id`,
  (SELECT count(*) FROM `sessions` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `sessionFiles` WHERE `organizationId` = o.`id`),
  (SELECT coalesce(sum(`sizeBytes`), 0) FROM `sessionFiles` WHERE `organizationId` = o.`id`)
FROM `organizations` AS o;--> statement-breakpoint
CREATE TRIGGER `sessionAdded` AFTER INSERT ON `sessions` BEGIN
  INSERT INTO `organizationUsage` VALUES (new.`organizationId`, 1, 0, 0)
  ON CONFLICT DO UPDATE SET `sessions` = `sessions` + 1;
END;--> statement-breakpoint
CREATE TRIGGER `sessionRemoved` AFTER DELETE ON `sessions` BEGIN
  UPDATE `organizationUsage` SET `sessions` = `sessions` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `fileAdded` AFTER INSERT ON `sessionFiles` BEGIN
  INSERT INTO `organizationUsage` VALUES (new.`organizationId`, 0, 1, new.`sizeBytes`)
  ON CONFLICT DO UPDATE SET `files` = `files` + 1, `bytes` = `bytes` + new.`sizeBytes`;
END;--> statement-breakpoint
CREATE TRIGGER `fileReplaced` AFTER UPDATE OF `sizeBytes` ON `sessionFiles` BEGIN
  UPDATE `organizationUsage` SET `bytes` = `bytes` - old.`sizeBytes` + new.`sizeBytes`
  WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `fileRemoved` AFTER DELETE ON `sessionFiles` BEGIN
  UPDATE `organizationUsage` SET `files` = `files` - 1, `bytes` = `bytes` - old.`sizeBytes`
  WHERE `organizationId` = old.`organizationId`;
END;
