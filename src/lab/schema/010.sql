-- Schema version 10: every text is UTF-8, so that other programs can read the lab. Names of older labs that are not
-- are changed by lab_repair_names(), since SQL cannot tell them from others.

SELECT 1;
